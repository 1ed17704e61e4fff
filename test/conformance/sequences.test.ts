import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { Doors } from '../support/doors.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

describe('what follows from what, in the words of those who were there', () => {
  let server: Server
  let ann: Person
  let ben: Person
  let eve: Person
  beforeAll(async () => {
    server = await startServer()
    ;[ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const addFile = async (app: string, content: string, replace?: boolean) => {
    const { body: blob } = await upload(ann, { name: 'plan.txt', content })
    return ann.post(`/api/apps/${app}/files`, { blob_id: blob.id, ...(replace !== undefined && { replace }) })
  }
  const pair = async (by: Person, other: Person): Promise<string> =>
    (await create(by, '/api/apps', { type: 'private_chat', members: [other.id] })).id
  const notificationsOf = async (who: Person, query = ''): Promise<Body[]> =>
    (await who.get(`/api/notifications?take=100${query}`)).body.data ?? []

  test('a file whose name is taken is refused, or becomes a second version where that is asked for', async () => {
    const app = await appOf(server, 'files', [ann])
    await using doors = await Doors.at(server, {
      person: ann,
      app,
      triggers: ['files'],
      actions: ['file_created', 'file_updated'],
    })

    const first = await addFile(app, 'one')
    const refused = await addFile(app, 'two')
    const replaced = await addFile(app, 'two', true)

    expect([first.status, refused.status, replaced.status]).toEqual([201, 409, 200])
    expect(refused.body).toMatchObject({ status: 409, title: 'Conflict' })
    expect(replaced.body.id).toBe(first.body.id)
    expect((await ann.get(`/api/files/${first.body.id}/versions`)).body.count).toBe('2')
    const { native, hub, webhook } = await doors.hear('file_created', 'file_updated')
    const { id, rev } = replaced.body
    for (const told of [native, webhook]) expect(told[1]).toMatchObject({ file: { id, rev, name: 'plan.txt' } })
    expect(hub[1]).toMatchObject({ file: { id: Number(id), rev: Number(rev), app: { id: Number(app) } } })
  })

  test('the same two people have the same private chat', async () => {
    expect(await pair(ann, ben)).toBe(await pair(ann, ben))
  })

  test('a message in it is unread for the other, who is notified, and read by its author', async () => {
    const app = await pair(ann, ben)
    await using bens = await listen(server.url, { token: ben.token })
    await using hub = await joinHub(server.url, { token: () => ben.token })
    await hub.subscribe('notification_created')

    const message = await create(ann, `/api/apps/${app}/messages`, { text: 'Lunch?' })

    expect((await ben.get(`/api/apps/${app}`)).body).toMatchObject({ is_unread: true })
    const { body: anns } = await ann.get(`/api/apps/${app}`)
    expect(anns.is_unread).toBe(false)
    expect(anns.members.data.find(({ id }: Body) => id === ann.id)).toMatchObject({ marked_id: message.id })
    const told = { type: 'activity', action: 'message_created', is_unread: true, actor: { id: ann.id } }
    const link = { type: 'message', id: message.id, app: { id: app } }
    expect((await bens.hear('notification_created')).notification).toMatchObject({ ...told, link })
    expect((await notificationsOf(ben))[0]).toMatchObject({ ...told, link })
    expect(await hub.hear('notification_created')).toMatchObject({
      action: 'notification_created',
      actor: { id: Number(ann.id) },
      notification: { action: 'message_created', link: { id: Number(message.id) } },
    })
  })

  test('marking it tells how far, and reads the notification of it', async () => {
    const app = await pair(ann, eve)
    const message = await create(ann, `/api/apps/${app}/messages`, { text: 'Dinner?' })
    await eventually(async () => expect(await notificationsOf(eve, '&unread=true')).toHaveLength(1))
    await using eves = await listen(server.url, { token: eve.token })
    await using doors = await Doors.at(server, { person: ann, app, triggers: ['apps'], actions: ['app_marked'] })

    const marked = await eve.put(`/api/apps/${app}/mark?message_id=${message.id}`)

    expect(marked.status).toBe(204)
    const { native, hub, webhook } = await doors.hear('app_marked')
    for (const [told] of [native, webhook]) {
      expect(told).toMatchObject({ actor: { id: eve.id }, app: { id: app }, marked_id: message.id })
      expect(told.marked_at).toMatch(/Z$/)
    }
    expect(hub[0]).toMatchObject({ actor: { id: Number(eve.id) }, marked_id: Number(message.id) })
    await eves.hear('notifications_marked')
    expect(await notificationsOf(eve)).toMatchObject([{ is_unread: false, link: { id: message.id } }])
  })

  test('who is mentioned in a post is notified of that, and not of the post as well', async () => {
    const app = await appOf(server, 'posts', [ann, ben], { name: 'News' })
    await ben.post(`/api/apps/${app}/subscribe`)

    const first = await create(ann, `/api/apps/${app}/posts`, { text: `See, [Ben](@u${ben.id})` })
    const second = await create(ann, `/api/apps/${app}/posts`, { text: 'And this' })

    const found = await eventually(async () => {
      const { body } = await ben.get(`/api/apps/${app}/notifications`)
      // They are made in order: when there is one of the second post, those of the first are there.
      expect(body.data[0]).toMatchObject({ link: { id: second.id } })
      return body.data.map(({ type, link }: Body) => [type, link.id])
    })
    expect(found).toEqual([
      ['activity', second.id],
      ['mention', first.id],
    ])
  })

  test('two emojis of one person are one reaction, and one notification that was updated', async () => {
    const app = await appOf(server, 'chat', [ann, ben])
    const message = await create(ann, `/api/apps/${app}/messages`, { text: 'Cake?' })
    const path = `/api/messages/${message.id}/reactions`
    await using anns = await listen(server.url, { token: ann.token })
    await using doors = await Doors.at(server, {
      person: ann,
      app,
      triggers: ['reactions'],
      actions: ['reaction_added', 'reaction_removed'],
    })

    await ben.post(path, { content: '👍' })
    const { notification: made } = await anns.hear('notification_created')
    await ben.post(path, { content: '🎂' })
    const { notification: updated } = await anns.hear('notification_updated')

    expect((await ann.get(path)).body).toMatchObject({ count: '1', data: [{ content: '🎂' }] })
    expect(made).toMatchObject({ type: 'reaction', is_unread: true, args: ['Ben', '👍', 'Cake?'] })
    expect(updated).toMatchObject({ id: made.id, is_unread: true, args: ['Ben', '🎂', 'Cake?'] })
    expect(await notificationsOf(ann, '&type=reaction')).toMatchObject([{ id: made.id, args: updated.args }])
    const { native, hub, webhook } = await doors.hear('reaction_added', 'reaction_removed', 'reaction_added')
    for (const told of [native, webhook]) {
      expect(told.map(({ reaction }) => reaction)).toEqual(['👍', '👍', '🎂'])
      expect(told[0]).toMatchObject({ actor: { id: ben.id }, entity: { id: message.id, type: 'message' } })
    }
    expect(hub.map(({ entity, reaction }) => [entity.id, reaction])).toEqual([
      [Number(message.id), '👍'],
      [Number(message.id), '👍'],
      [Number(message.id), '🎂'],
    ])
  })

  test('a vote is given, moved, and taken back by giving it again', async () => {
    const app = await appOf(server, 'chat', [ann, ben])
    const message = await create(ann, `/api/apps/${app}/messages`, { options: [{ text: 'Tea' }, { text: 'Coffee' }] })
    const [tea, coffee] = message.options.data.map(({ id }: Body) => id)
    await using doors = await Doors.at(server, {
      person: ann,
      app,
      triggers: ['polls'],
      actions: ['vote_added', 'vote_removed'],
    })
    const votes: string[][] = []

    for (const option of [tea, coffee, coffee]) {
      expect((await ben.post(`/api/options/${option}/vote`)).status).toBe(200)
      const { body } = await ann.get(`/api/messages/${message.id}`)
      votes.push(body.options.data.map(({ votes }: Body) => votes.count))
    }

    expect(votes).toEqual([
      ['1', '0'],
      ['0', '1'],
      ['0', '0'],
    ])
    const { native, hub, webhook } = await doors.hear('vote_added', 'vote_removed', 'vote_added', 'vote_removed')
    for (const told of [native, webhook]) {
      expect(told.map(({ option }) => option.id)).toEqual([tea, tea, coffee, coffee])
      expect(told[0]).toMatchObject({ actor: { id: ben.id }, poll: { id: message.id, type: 'message' } })
    }
    expect(hub.map(({ option }) => option.id)).toEqual([tea, tea, coffee, coffee].map(Number))
  })

  test('an app that is open to read for a directory is read there, written by nobody, and hidden elsewhere', async () => {
    await server.admin.post('/api/directories', { name: 'acme' })
    await server.admin.put('/api/directories/acme/members', [ben.id])
    const app = await appOf(server, 'chat', [], { access: 'read', directory: 'acme' })
    const statuses = async (who: Person) => [
      (await who.get(`/api/apps/${app}`)).status,
      (await who.get(`/api/apps/${app}/messages`)).status,
      (await who.post(`/api/apps/${app}/messages`, { text: 'Hi' })).status,
    ]
    const subscribed = async ({ token }: Person) => {
      await using client = await listen(server.url, { token })
      return (await client.subscribe(app)).type
    }

    expect(await statuses(ben)).toEqual([200, 200, 403])
    expect(await statuses(ann)).toEqual([404, 404, 404])
    expect([await subscribed(ben), await subscribed(ann)]).toEqual(['subscribed', 'error'])
  })

  test('a member without access sees nothing of an app that everybody else may write in', async () => {
    const app = await appOf(server, 'chat', [ann], { access: 'write' })
    await server.admin.put(`/api/apps/${app}/members/${ben.id}`, { access: 'none' })
    await using hub = await joinHub(server.url, { token: () => ben.token })

    const answers = [
      await ben.get(`/api/apps/${app}`),
      await ben.get(`/api/apps/${app}/messages`),
      await ben.post(`/api/apps/${app}/messages`, { text: 'Hi' }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(await hub.subscribe(`a${app}:message_created`)).toBe(false)
    expect((await create(eve, `/api/apps/${app}/messages`, { text: 'Hi' })).created_by.id).toBe(eve.id)
  })

  test('what an API key writes is written by the system user', async () => {
    const app = await appOf(server, 'chat', [ann])
    await using doors = await Doors.at(server, {
      person: ann,
      app,
      triggers: ['messages'],
      actions: ['message_created'],
    })

    const message = await create(server.admin, `/api/apps/${app}/messages`, { text: 'Hello' })

    expect(message.created_by).toMatchObject({ id: '0', name: 'System' })
    expect((await ann.get(`/api/messages/${message.id}`)).body.created_by.id).toBe('0')
    const { native, hub, webhook } = await doors.hear('message_created')
    for (const [told] of [native, webhook]) {
      expect(told).toMatchObject({ actor: { id: '0' }, message: { id: message.id, created_by: { id: '0' } } })
    }
    expect(hub[0]).toMatchObject({ actor: { id: 0, name: 'System' }, message: { created_by: { id: 0 } } })
  })

  test('what a deleted user has written is by the deleted user', async () => {
    const kim = await server.person('Kim')
    const app = await appOf(server, 'chat', [ann, kim])
    const message = await create(kim, `/api/apps/${app}/messages`, { text: 'Goodbye' })

    expect((await server.admin.delete(`/api/users/${kim.id}`)).status).toBe(204)

    const author = { id: '-1', name: 'Deleted user' }
    expect((await ann.get(`/api/messages/${message.id}`)).body).toMatchObject({ text: 'Goodbye', created_by: author })
    const { body: list } = await ann.get(`/api/apps/${app}/messages?out=details`)
    expect(list.data).toMatchObject([{ id: message.id, created_by: author }])
    expect((await ann.get(`/api/apps/${app}`)).body.last_message).toMatchObject({ created_by: author })
  })
})
