import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { Doors } from '../support/doors.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import { payloadOf, register } from '../support/webhooks.ts'

describe('what can become of something, and what is told of it', () => {
  let server: Server
  let ann: Person
  beforeAll(async () => {
    server = await startServer()
    ann = await server.person('Ann')
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const statusOf = async (path: string, query = '') => (await ann.get(`${path}${query}`)).status
  const appOf = async (type: string): Promise<string> => (await create(ann, '/api/apps', { type })).id
  const addFile = async (app: string, content: string, more: object = {}): Promise<Body> => {
    const { body: blob } = await upload(ann, { name: 'a.txt', content })
    return create(ann, `/api/apps/${app}/files`, { blob_id: blob.id, ...more })
  }

  test.each([
    ['message', 'chat'],
    ['post', 'posts'],
    ['comment', 'comments'],
  ])(
    'a %s goes to the trash, comes back, and is deleted from either; saying so twice changes nothing',
    async (kind, type) => {
      const app = await appOf(type)
      const make = async () => `/api/${kind}s/${(await create(ann, `/api/apps/${app}/${kind}s`, { text: 'x' })).id}`
      const [active, trashed] = [await make(), await make()]
      const [updated, deleted] = [`${kind}_updated`, `${kind}_deleted`]
      await using doors = await Doors.at(server, {
        person: ann,
        app,
        triggers: [`${kind}s`],
        actions: [updated, deleted],
      })
      const statuses: number[] = []

      for (const verb of ['trash', 'trash', 'restore', 'restore']) {
        statuses.push((await ann.post(`${active}/${verb}`)).status)
      }
      expect(await statusOf(active)).toBe(200)
      await ann.post(`${trashed}/trash`)
      expect([await statusOf(trashed), await statusOf(trashed, '?trashed=true')]).toEqual([404, 200])
      for (const path of [trashed, active]) statuses.push((await ann.delete(path)).status)

      expect(statuses).toEqual([204, 204, 204, 204, 204, 204])
      expect(await statusOf(active, '?trashed=true')).toBe(404)
      const heard = await doors.hear(updated, updated, updated, deleted, deleted)
      for (const told of Object.values(heard)) {
        expect(told.slice(0, 3).map((event: Body) => event[kind].is_trashed)).toEqual([true, false, true])
      }
    },
  )

  test('a trashed file frees its name, and comes back only where that is free', async () => {
    const app = await appOf('files')
    await using receiver = await startReceiver()
    const webhook = await register(server, receiver.url, { triggers: ['files'] })
    const { id } = await addFile(app, 'one')
    const path = `/api/files/${id}`

    const trashed = await ann.post(`${path}/trash`)
    const second = await addFile(app, 'two')
    const refused = await ann.post(`${path}/restore`)
    await ann.delete(`/api/files/${second.id}`)
    const restored = await ann.post(`${path}/restore`)
    const deleted = await ann.delete(path)

    expect([trashed, refused, restored, deleted].map(({ status }) => status)).toEqual([204, 409, 204, 204])
    expect(await statusOf(path, '?trashed=true')).toBe(404)
    // Receivers know three actions; a trashed file was updated.
    const told = (await receiver.take(6)).map(payloadOf)
    expect(told.map(({ action, file }) => [action, file.id, file.is_trashed])).toEqual([
      ['file_created', id, false],
      ['file_updated', id, true],
      ['file_created', second.id, false],
      ['file_deleted', second.id, undefined],
      ['file_updated', id, false],
      ['file_deleted', id, undefined],
    ])
    await server.admin.delete(`/api/webhooks/${webhook.id}`)
  })

  test('an old version becomes the current one as a copy, and goes with its file', async () => {
    const app = await appOf('files')
    const { id, rev } = await addFile(app, 'one')
    await addFile(app, 'two', { replace: true })
    const versions = async () => (await ann.get(`/api/files/${id}/versions`)).body

    expect((await ann.post(`/api/files/${id}/versions/${rev}/restore`)).status).toBe(204)
    const { count, data } = await versions()
    expect([count, data[0].rev === rev, data[2].rev]).toEqual(['3', false, rev])
    expect(await (await fetch(data[0].download_url)).text()).toBe('one')
    await ann.delete(`/api/files/${id}`)
    expect(await statusOf(`/api/files/${id}/versions/${rev}`)).toBe(404)
  })
})
