import { expect, test } from 'vitest'
import type { AppState } from '../../src/engine/state.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { appOf, create } from '../support/content.ts'
import { listen, type Heard } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

/** What every event says beside its own members. */
const head = ['type', 'event', 'id', 'app_id', 'rev', 'prev', 'actor', 'created_at']

/** A chat of two: where least is kept from subscribers. */
const small = { app: { access: 'none' }, memberCount: 2 } as AppState

/** The subscriptions to an app end when it is deleted. */
const unheard = ['app_deleted']

/** What is wrong with an event by the schema of its type; members that the schema does not name are wrong as well. */
function faultsOf(frame: Heard): unknown[] {
  const { schema } = eventTypes.get(frame.event)!
  if (schema === undefined) return ['has no schema']
  const members = Object.fromEntries(Object.entries(frame).filter(([name]) => !head.includes(name)))
  const { success, data, error } = schema.safeParse(members)
  if (!success) return error.issues
  try {
    expect(data).toEqual(members)
    return []
  } catch (difference) {
    return [(difference as Error).message]
  }
}

async function contentEvents(ann: Person, app: string, entity: string): Promise<string> {
  const blob = async () => (await upload(ann, { name: 'a.txt', content: 'a', type: 'text/plain' })).body.id
  const whole = {
    text: '**Which?**',
    metadata: { mine: 1 },
    tags: ['t'],
    blobs: [await blob()],
    options: [{ text: 'this' }, { text: 'that' }],
  }
  const { id } = await create(ann, `/api/apps/${app}/${entity}s`, { text: 'bare' })
  await ann.delete(`/api/${entity}s/${id}`)
  const kept = await create(ann, `/api/apps/${app}/${entity}s`, whole)
  const { options } = (await ann.get(`/api/${entity}s/${kept.id}`)).body
  await ann.post(`/api/options/${options.data[0].id}/vote`)
  await ann.post(`/api/options/${options.data[0].id}/vote`)
  await ann.post(`/api/${entity}s/${kept.id}/reactions`, { content: '🎉' })
  await ann.patch(`/api/${entity}s/${kept.id}`, { text: 'edited' })
  await ann.delete(`/api/${entity}s/${kept.id}/reactions`)
  const gone = await create(ann, `/api/apps/${app}/${entity}s`, { text: 'gone' })
  await ann.post(`/api/${entity}s/${gone.id}/trash`)
  return kept.id
}

async function fileEvents(ann: Person, app: string): Promise<void> {
  const blob = async () => (await upload(ann, { name: 'a.txt', content: 'a', type: 'text/plain' })).body.id
  const { id } = await create(ann, `/api/apps/${app}/files`, { blob_id: await blob() })
  await ann.patch(`/api/files/${id}`, { name: 'b.txt' })
  await create(ann, `/api/files/${id}/comments`, { text: 'on a file' })
  await ann.post(`/api/files/${id}/trash`)
  const { id: other } = await create(ann, `/api/apps/${app}/files`, { blob_id: await blob() })
  await ann.delete(`/api/files/${other}`)
}

async function memberEvents(server: Server, ann: Person, app: string): Promise<void> {
  const ben = await server.person('Ben')
  await ann.put(`/api/apps/${app}/members/${ben.id}`, { access: 'read' })
  await ann.put(`/api/apps/${app}/members/${ben.id}`, { access: 'write' })
  await ann.delete(`/api/apps/${app}/members/${ben.id}`)
}

test('every event that clients get is as its schema says, live and when it is read again', async () => {
  await using server = await startServer()
  const [ann, eve] = [await server.person('Ann'), await server.person('Eve')]
  await using live = await listen(server.url, { token: eve.token })
  const [posts, files, comments] = await Promise.all(
    ['posts', 'files', 'comments'].map(type => appOf(server, type, [ann, eve])),
  )
  const { id: chat } = await create(ann, '/api/apps', { type: 'chat_room', members: [eve.id] })
  const apps = [chat!, posts!, files!, comments!]
  for (const app of apps) await live.subscribe(app)

  const message = await contentEvents(ann, chat!, 'message')
  await ann.put(`/api/apps/${chat}/mark?message_id=${message}`)
  await ann.delete(`/api/apps/${chat}/mark`)
  await ann.patch(`/api/apps/${chat}`, { description: 'changed' })
  await memberEvents(server, ann, chat!)
  await contentEvents(ann, posts!, 'post')
  await contentEvents(ann, comments!, 'comment')
  await fileEvents(ann, files!)
  await ann.delete(`/api/apps/${chat}/members/${ann.id}`)
  await server.admin.post(`/api/apps/${files}/trash`)
  await server.admin.post(`/api/apps/${files}/restore`)
  await live.settle()
  await using later = await listen(server.url, { token: eve.token })
  for (const app of apps) await later.subscribe(app, 0)
  await later.take(apps.length, 'current')

  const frames = [...live.frames, ...later.frames].filter(({ type }) => type === 'event')
  const faults = frames.flatMap(frame => faultsOf(frame).map(fault => [frame.event, fault, frame]))
  expect(faults).toEqual([])
  const shown = [...eventTypes.values()].filter(({ schema, isBroadcast }) => schema && isBroadcast?.(small) !== false)
  expect([...new Set(frames.map(({ event }) => event)), ...unheard].toSorted()).toEqual(
    shown.map(({ type }) => type).toSorted(),
  )
})
