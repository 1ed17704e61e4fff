import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startHost } from '../support/host.ts'
import { joinHub } from '../support/hub.ts'
import { closedWith, listen, Listener } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

const nowSeconds = () => Math.floor(Date.now() / 1000)

test('a session ends with its token of the host, unless a fresh one comes in band', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const token = await host.token('ann', { exp: nowSeconds() + 4 })
  await using ending = await listen(server.url, { token })
  await using renewed = await listen(server.url, { token })

  renewed.say({ type: 'hello', access_token: await host.token('ann') })
  const { expires_in } = await renewed.hear('welcome')

  expect(Number(expires_in)).toBeGreaterThan(3000)
  expect(await ending.closed).toBe(4401)
  await renewed.settle()
})

test('the first frame may bring a token of the host, also a long one; a wrong one says what is wrong', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  await using inbox = await listen(server.url)
  await using refused = await listen(server.url)
  const roles = Array.from({ length: 400 }, (_, i) => `role-${i}`)

  inbox.say({ type: 'hello', access_token: await host.token('ann', { roles }) })
  refused.say({ type: 'hello', access_token: await host.token('ann', { aud: 'other' }) })

  await inbox.hear('welcome')
  expect(await refused.hear('error')).toMatchObject({ status: '401', code: 'token-audience' })
  expect(await refused.closed).toBe(4401)
})

test('a refused token of the host closes the connection with the reason', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const token = await host.token('ann', { exp: nowSeconds() - 100 })
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/realtime`, ['json', `bearer.${token}`])
  await using inbox = new Listener(socket, false)
  const reason = new Promise<string>(resolve => socket.once('close', (_, text) => resolve(text.toString())))

  expect(await inbox.closed).toBe(4401)
  expect(await reason).toBe('token-expired')
  expect(await closedWith(`${server.url}/hubs/rtm?access_token=${token}`)).toBe(4401)
})

test('a session ends when its key is taken out of the set', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const old = await host.token('ann')
  await host.addKey('second')
  const token = await host.token('ann')
  await using ending = await listen(server.url, { token: old })
  await using staying = await listen(server.url, { token })

  host.publish('second')

  expect(await ending.closed).toBe(4401)
  await staying.settle()
})

test('on the hub, a fresh token comes by Authenticate, and one of another user ends the connection', async () => {
  await using host = await startHost()
  await using server = await startServer(host.settings)
  const first = await host.token('ann', { exp: nowSeconds() + 4 })
  await using ending = await joinHub(server.url, { token: () => first })
  await using renewed = await joinHub(server.url, { token: () => first })
  await using other = await joinHub(server.url, { token: () => first })
  const ended = ({ connection }: typeof ending) => new Promise<void>(resolve => connection.onclose(() => resolve()))
  const [endings, others] = [ended(ending), ended(other)]

  expect(await renewed.connection.invoke('Authenticate', await host.token('ann'))).toBe(true)
  other.connection.invoke('Authenticate', await host.token('ben')).catch(() => {})

  await Promise.all([endings, others])
  expect(await renewed.subscribe('message_created')).toBe(true)
})
