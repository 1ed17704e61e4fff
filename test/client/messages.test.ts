import { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { createParley, type WebSocketType } from '../../src/client/index.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultProxy } from '../../src/client/testing/proxy.ts'
import { startServer } from '../support/server.ts'

const Ws = WebSocket as unknown as WebSocketType

test('messages are live: what others and oneself write is there once, in order, also after a cut', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using network = await createFaultProxy(server.url)
  await ann.post(`/api/apps/${app}/messages`, { text: 'first' })
  const parley = createParley({ url: network.url, token: ben.token, WebSocket: Ws })
  const { messages } = parley.app(app)
  const shown: string[][] = []
  const stop = messages.subscribe(({ data }) => void shown.push(data.map(({ text }) => text ?? '')))
  await eventually(() => expect(messages.get().status).toBe('live'))

  const sending = messages.send({ text: 'mine' })
  expect(messages.get().data.map(({ text, state }) => [text, state])).toEqual([
    ['first', 'settled'],
    ['mine', 'sending'],
  ])
  const key = messages.get().data[1]!.key
  const sent = await sending
  network.cut()
  await ann.post(`/api/apps/${app}/messages`, { text: 'third' })

  await eventually(() =>
    expect(messages.get().data.map(({ text, state }) => [text, state])).toEqual([
      ['first', 'settled'],
      ['mine', 'settled'],
      ['third', 'settled'],
    ]),
  )
  expect(messages.get().data[1]).toMatchObject({ key, id: sent.id })
  expect(shown.every(texts => new Set(texts).size === texts.length)).toBe(true)
  stop()
  parley.close()
})
