import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { startServer } from '../support/server.ts'

test('a meeting is told by its address, and a message carries it', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const made = await ann.post('/api/meetings', { join_url: 'https://us02web.zoom.us/j/123456789?pwd=abc' })
  const sent = await ann.post(`/api/apps/${app}/messages`, { meeting_id: made.body.id })

  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    provider: 'zoom',
    join_url: 'https://us02web.zoom.us/j/123456789?pwd=abc',
    code: '123456789',
  })
  expect(sent.body.meeting).toEqual(made.body)
  expect((await ben.get(`/api/messages/${sent.body.id}`)).body.meeting).toEqual(made.body)
  expect((await ben.get(`/api/apps/${app}/messages?out=details`)).body.data[0].meeting).toEqual(made.body)
})

test('provider and code follow from what is given', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const add = async (body: object) => {
    const { provider, provider_id, code } = await create(ann, '/api/meetings', body)
    return [provider, provider_id, code]
  }

  const told = [
    await add({ join_url: 'https://meet.google.com/abc-defg-hij' }),
    await add({ join_url: 'https://teams.microsoft.com/l/meetup-join/19%3a', provider_id: '42' }),
    await add({ join_url: 'https://meet.example/room', provider: 'jitsi', provider_id: 'room' }),
    await add({ join_url: 'https://notzoom.us.example/j/1' }),
    await add({ join_url: 'https://video.example/j/7', provider: 'zoom', provider_id: '9' }),
  ]

  expect(told).toEqual([
    ['google', undefined, 'abc-defg-hij'],
    ['microsoft', '42', '42'],
    ['jitsi', 'room', 'room'],
    [undefined, undefined, undefined],
    ['zoom', '9', '7'],
  ])
})

test('a meeting keeps the metadata that it was given, wherever it is shown', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const metadata = { topic: 'Garden', attendees: ['1', null, { name: 'Ben' }] }

  const made = await create(ann, '/api/meetings', { join_url: 'https://zoom.us/j/1', metadata })
  const sent = await create(ann, `/api/apps/${app}/messages`, { meeting_id: made.id })

  expect(made.metadata).toEqual(metadata)
  expect(sent.meeting.metadata).toEqual(metadata)
  expect((await ann.get(`/api/messages/${sent.id}`)).body.meeting.metadata).toEqual(metadata)
})

test('what is no meeting is refused', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const bodies = [
    {},
    { join_url: null },
    { join_url: 'http://zoom.us/j/1' },
    { join_url: '/j/1' },
    { join_url: `https://zoom.us/${'1'.repeat(2_048)}` },
    { join_url: 'https://zoom.us/j/1', provider: 'Zoom' },
    { join_url: 'https://zoom.us/j/1', provider: 'z'.repeat(65) },
    { join_url: 'https://zoom.us/j/1', metadata: 'free' },
    { join_url: 'https://zoom.us/j/1', metadata: { long: 'x'.repeat(65_536) } },
  ]

  for (const body of bodies) expect([body, (await ann.post('/api/meetings', body)).status]).toEqual([body, 422])
})

test('only who added a meeting may attach it, and an edit keeps, replaces or removes it', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const [first, second] = [
    await create(ann, '/api/meetings', { join_url: 'https://zoom.us/j/1' }),
    await create(ann, '/api/meetings', { join_url: 'https://zoom.us/j/2' }),
  ]

  const foreign = await ben.post(`/api/apps/${app}/messages`, { meeting_id: first.id })
  const unknown = await ann.post(`/api/apps/${app}/messages`, { text: 'Hi', meeting_id: 999_999 })
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi', meeting_id: Number(first.id) })
  const kept = await server.admin.patch(`/api/messages/${id}`, { text: 'Hello' })
  const replaced = await ann.patch(`/api/messages/${id}`, { meeting_id: second.id })
  const removed = await ann.patch(`/api/messages/${id}`, { meeting_id: null })

  expect([foreign.status, unknown.status]).toEqual([422, 422])
  expect(unknown.body.errors).toHaveProperty('meeting_id')
  expect(kept.body.meeting.id).toBe(first.id)
  expect(replaced.body.meeting.id).toBe(second.id)
  expect(removed.body).not.toHaveProperty('meeting')
})

test('this server makes no meetings at providers', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { status, body } = await ann.post('/x/zoom/meetings')

  expect(status).toBe(404)
  expect(body).toMatchObject({ status: 404, title: 'Not Found' })
})
