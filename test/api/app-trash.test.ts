import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

test('in the trash an app is found by its administrators alone, and only when they ask for it', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat', uid: 'old', members: [ben.id] })
  const { body: message } = await ben.post('/api/apps/old/messages', { text: 'hi' })

  expect((await ben.post('/api/apps/old/trash')).status).toBe(403)
  expect((await ann.post('/api/apps/old/trash')).status).toBe(204)
  expect((await ann.post('/api/apps/old/trash')).status).toBe(204)

  const status = async (person: typeof ann, path: string) => (await person.get(path)).status
  expect(await status(ann, '/api/apps/old')).toBe(404)
  expect(await status(ann, '/api/apps/old?trashed=false')).toBe(404)
  expect(await ann.get('/api/apps/old?trashed=true')).toMatchObject({ status: 200, body: { is_trashed: true } })
  expect(await server.admin.get('/api/apps/old?trashed=true')).toMatchObject({ status: 200 })
  expect(await status(ben, '/api/apps/old?trashed=true')).toBe(404)
  for (const path of ['messages', 'members']) expect(await status(ann, `/api/apps/${app.id}/${path}`)).toBe(404)
  expect(await status(ben, `/api/messages/${message.id}`)).toBe(404)
  expect(await status(server.admin as typeof ann, `/api/messages/${message.id}`)).toBe(404)
  for (const one of [ann, ben, server.admin]) {
    expect((await one.get('/api/messages')).body.count).toBe('0')
    expect((await one.get('/api/apps')).body.count).toBe('0')
  }
  expect((await ben.post(`/api/apps/${app.id}/messages`, { text: 'again' })).status).toBe(404)
  expect((await ann.patch('/api/apps/old', { name: 'New' })).status).toBe(404)
  expect((await ben.post('/api/apps/old/restore')).status).toBe(404)
  expect((await ann.get('/api/apps?trashed=true')).body.data).toMatchObject([{ id: app.id, is_trashed: true }])
  expect((await ben.get('/api/apps?trashed=null')).body.count).toBe('0')

  expect((await ann.post('/api/apps/old/restore')).status).toBe(204)
  expect((await ann.post('/api/apps/old/restore')).status).toBe(204)
  expect((await ben.get('/api/apps/old')).body).toMatchObject({ is_trashed: false, last_message: { id: message.id } })
})

test('a deleted app is gone with all that was in it, from the trash or not, and its uid is free', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  for (const isTrashed of [false, true]) {
    const { body: app } = await ann.post('/api/apps', { type: 'chat', uid: 'brief', members: [ben.id] })
    const { body: message } = await ben.post('/api/apps/brief/messages', { text: 'hi' })
    if (isTrashed) await ann.post('/api/apps/brief/trash')

    expect((await ben.delete('/api/apps/brief')).status).toBe(isTrashed ? 404 : 403)
    expect((await ann.delete(`/api/apps/${app.id}`)).status).toBe(204)

    for (const one of [ann, ben, server.admin]) {
      expect((await one.get(`/api/apps/${app.id}?trashed=true`)).status).toBe(404)
      expect((await one.get('/api/apps/brief')).status).toBe(404)
      expect((await one.get(`/api/messages/${message.id}?trashed=true`)).status).toBe(404)
      expect((await one.get('/api/messages?trashed=null')).body.count).toBe('0')
      expect((await one.get('/api/apps?trashed=null')).body.count).toBe('0')
      expect((await one.delete(`/api/apps/${app.id}`)).status).toBe(404)
      expect((await one.post(`/api/apps/${app.id}/messages`, { text: 'late' })).status).toBe(404)
    }
  }
})

test('a deleted app no longer keeps the directory that it was open to', async () => {
  await using server = await startServer()
  await server.admin.post('/api/directories', { name: 'acme' })
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat', access: 'read', directory: 'acme' })
  await server.admin.delete(`/api/apps/${app.id}`)

  expect((await server.admin.delete('/api/directories/acme')).status).toBe(204)
  expect((await server.admin.get('/api/directories/acme')).status).toBe(404)
})

test('who was deleted while an app was in the trash has left it, and somebody else administers it', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: bot } = await server.admin.post('/api/agents', {
    uid: 'bot',
    name: 'Bot',
    provider: 'builtin',
    model: 'x',
  })
  const { body: app } = await ben.post('/api/apps', { type: 'chat', members: [bot.id, ann.id] })
  const path = `/api/apps/${app.id}`
  await ben.post(`${path}/trash`)

  const left = [await server.admin.delete(`/api/users/${ben.id}`), await server.admin.delete(`/api/agents/${bot.id}`)]
  await server.admin.post(`${path}/restore`)

  expect(left.map(({ status }) => status)).toEqual([204, 204])
  const { body: members } = await server.admin.get(`${path}/members`)
  expect(members).toMatchObject({ count: '1', data: [{ id: ann.id, access: 'admin' }] })
  const { body: seen } = await ann.get(path)
  expect(seen.members).toEqual(expect.objectContaining({ count: '1' }))
  expect(seen.permissions).toContain('admin')
})
