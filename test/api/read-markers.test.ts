import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { count, heard } from '../support/notifications.ts'
import { startServer, type Person } from '../support/server.ts'

const markerOf = async (app: string, whose: Person, who: Person) => {
  const { body } = await who.get(`/api/apps/${app}/members?take=100`)
  const { marked_id, marked_at } = body.data.find((member: Body) => member.id === whose.id)
  return { marked_id, marked_at }
}

test('whoever writes has read what they wrote; for the others it is unread until they mark it', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const isUnread = async (one: Person) => (await one.get(`/api/apps/${app}`)).body.is_unread
  expect([await isUnread(ann), await isUnread(ben)]).toEqual([false, false])

  const { body: first } = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  expect([await isUnread(ann), await isUnread(ben)]).toEqual([false, true])
  expect(await markerOf(app, ann, ben)).toEqual({ marked_id: first.id, marked_at: expect.stringMatching(/Z$/) })
  expect(await markerOf(app, ben, ann)).toEqual({ marked_id: undefined, marked_at: undefined })

  expect((await ben.put(`/api/apps/${app}/mark`)).status).toBe(204)
  expect(await isUnread(ben)).toBe(false)
  expect((await markerOf(app, ben, ann)).marked_id).toBe(first.id)
  const { body: second } = await ben.post(`/api/apps/${app}/messages`, { text: 'two' })
  expect([await isUnread(ann), await isUnread(ben)]).toEqual([true, false])
  expect((await markerOf(app, ben, ann)).marked_id).toBe(second.id)
})

test('a marker goes where it is put, also backwards, and away', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const sent: string[] = []
  for (const text of ['one', 'two', 'three']) sent.push((await ann.post(`/api/apps/${app}/messages`, { text })).body.id)
  const mark = (query: string) => ben.put(`/api/apps/${app}/mark${query}`)
  const state = async () => [
    (await markerOf(app, ben, ann)).marked_id,
    (await ben.get(`/api/apps/${app}`)).body.is_unread,
  ]

  expect((await mark(`?message_id=${sent[1]}`)).status).toBe(204)
  expect(await state()).toEqual([sent[1], true])
  await mark(`?messageId=${sent[2]}`)
  expect(await state()).toEqual([sent[2], false])
  await mark(`?message_id=${sent[0]}`)
  expect(await state()).toEqual([sent[0], true])
  await mark('')
  expect(await state()).toEqual([sent[2], false])
  expect((await ben.delete(`/api/apps/${app}/mark`)).status).toBe(204)
  expect(await state()).toEqual([undefined, true])
  expect((await ben.delete(`/api/apps/${app}/mark`)).status).toBe(204)
})

test('what somebody wrote themselves is never unread to them, also when it comes back from the trash', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(2)
  const { body: first } = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await ann.post(`/api/apps/${app}/messages`, { text: 'two' })

  await ann.post(`/api/messages/${first.id}/trash`)
  await ann.post(`/api/messages/${first.id}/restore`)
  await ann.delete(`/api/apps/${app}/mark`)

  expect((await ann.get(`/api/apps/${app}`)).body.is_unread).toBe(false)
})

test('whoever marks a chat as read has read of its messages, not of reactions to their own', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await ben.post(`/api/messages/${message.id}/reactions`, { content: '👍' })
  await ben.post(`/api/apps/${app}/messages`, { text: 'two' })
  await heard(ann, 2)

  await ann.put(`/api/apps/${app}/mark`)

  await eventually(async () => expect(await count(ann, '&unread=true')).not.toBe('2'))
  const { body: unread } = await ann.get('/api/notifications?unread=true')
  expect(unread).toMatchObject({ count: '1', data: [{ type: 'reaction' }] })
})

test('only messages of the app can be marked', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: other } = await ann.post('/api/apps', { type: 'chat' })
  const { body: message } = await ann.post(`/api/apps/${other.id}/messages`, { text: 'elsewhere' })

  for (const id of [message.id, '0', '-1', '999999', 'abc', '1.5', '9'.repeat(30)]) {
    expect([id, (await ann.put(`/api/apps/${app}/mark?message_id=${id}`)).status]).toEqual([id, 404])
  }
  expect(await markerOf(app, ann, ann)).toEqual({ marked_id: undefined, marked_at: undefined })
})

test('apps without messages can be marked, and are never unread', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'posts', members: [ben.id] })
  await ann.post(`/api/apps/${app.id}/posts`, { text: 'a post' })

  expect((await ben.put(`/api/apps/${app.id}/mark`)).status).toBe(204)
  expect((await ben.get(`/api/apps/${app.id}`)).body.is_unread).toBe(false)
  expect((await ben.delete(`/api/apps/${app.id}/mark`)).status).toBe(204)
  expect((await ben.get('/api/apps?unread=true')).body.count).toBe('0')
})

test('an empty chat can be marked without becoming unread', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  await ann.put(`/api/apps/${app}/mark`)
  await ann.delete(`/api/apps/${app}/mark`)

  expect((await ann.get(`/api/apps/${app}`)).body.is_unread).toBe(false)
})

test('what is archived comes back when somebody else writes, not by anything else', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: old } = await ann.post(`/api/apps/${app}/messages`, { text: 'old' })
  await ann.post(`/api/messages/${old.id}/trash`)
  const list = async (archived: boolean) => (await ben.get(`/api/apps?archived=${archived}`)).body.count

  expect([await list(true), await list(false)]).toEqual(['0', '1'])
  await ben.put(`/api/apps/${app}/archive`)
  await ben.put(`/api/apps/${app}/archive`)
  expect([await list(true), await list(false)]).toEqual(['1', '0'])
  expect((await ben.get('/api/apps')).body.count).toBe('1')
  expect((await ann.get('/api/apps?archived=true')).body.count).toBe('0')

  await ben.post(`/api/apps/${app}/messages`, { text: 'by myself' })
  await ann.patch(`/api/apps/${app}`, { name: 'New' })
  await ann.post(`/api/messages/${old.id}/restore`)
  expect([await list(true), await list(false)]).toEqual(['1', '0'])
  await ann.post(`/api/apps/${app}/messages`, { text: 'news' })
  expect([await list(true), await list(false)]).toEqual(['0', '1'])

  await ben.put(`/api/apps/${app}/archive`)
  await ben.delete(`/api/apps/${app}/archive`)
  expect([await list(true), await list(false)]).toEqual(['0', '1'])
})

test('what is archived once more, or no longer, stays so whatever becomes of the messages there were', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const isArchived = async () => (await ben.get('/api/apps?archived=true')).body.count === '1'
  const write = async () => (await ann.post(`/api/apps/${app}/messages`, { text: 'news' })).body

  await ben.put(`/api/apps/${app}/archive`)
  const first = await write()
  await ben.delete(`/api/apps/${app}/archive`)
  await ann.delete(`/api/messages/${first.id}`)
  const taken = await isArchived()
  await ben.put(`/api/apps/${app}/archive`)
  const second = await write()
  await ann.post(`/api/messages/${second.id}/trash`)
  await ben.put(`/api/apps/${app}/archive`)
  await ann.post(`/api/messages/${second.id}/restore`)

  expect([taken, await isArchived()]).toEqual([false, true])
})

const people = 2

/** One thing that somebody does; `who` and `which` are taken modulo what there is. */
const step = fc.record({
  who: fc.nat(people),
  which: fc.nat(9),
  what: fc.constantFrom(
    'send',
    'send',
    'send',
    'trash',
    'trash',
    'restore',
    'restore',
    'delete',
    'mark',
    'mark last',
    'unmark',
  ),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

test('whatever is sent, trashed, restored, deleted and marked, unread is what the messages say', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { sql } = database

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async steps => {
      const { app, people: crowd } = await server.chatWith(people)
      const sent: string[] = []
      const binned: string[] = []
      // The newest few, because they are what unread hangs on.
      const pick = (which: number) => sent.at(-1 - (which % Math.max(1, Math.min(4, sent.length)))) ?? '0'
      const act = async ({ who, which, what }: Step) => {
        const one = crowd[who] ?? server.admin
        switch (what) {
          case 'send':
            return void sent.push((await one.post(`/api/apps/${app}/messages`, { text: `${sent.length}` })).body.id)
          case 'trash':
            binned.push(pick(which))
            return server.admin.post(`/api/messages/${pick(which)}/trash`)
          case 'restore':
            return server.admin.post(`/api/messages/${binned.at(-1 - (which % 3)) ?? '0'}/restore`)
          case 'delete':
            return server.admin.delete(`/api/messages/${pick(which)}`)
          case 'mark':
            return one.put(`/api/apps/${app}/mark?message_id=${pick(which)}`)
          case 'mark last':
            return one.put(`/api/apps/${app}/mark`)
          case 'unmark':
            return one.delete(`/api/apps/${app}/mark`)
        }
      }
      // What an app keeps of its newest messages answers for everybody; here it is looked for among all of them.
      const kept = () => sql`select last_id, last_by, prior_id from apps where id = ${app}`
      const found = () => sql`
        with visible as (select * from messages where app_id = ${app} and trashed_at is null),
          last as (select * from visible order by id desc limit 1)
        select (select id from last) as last_id, (select created_by from last) as last_by,
          (select max(id) from visible where created_by <> (select created_by from last)) as prior_id`
      for (const one of steps) {
        await act(one)
        expect(await kept()).toEqual(await found())
      }

      const expected = await sql<{ id: number; is_unread: boolean }[]>`
        select m.user_id as id, exists (
          select from messages x where x.app_id = m.app_id and x.trashed_at is null and x.created_by <> m.user_id
            and x.id > coalesce(m.marked_id, 0)) as is_unread
        from members m where m.app_id = ${app}`
      const [newest] = await sql<{ id: number | null }[]>`
        select max(id) as id from messages where app_id = ${app} and trashed_at is null`
      for (const { id, is_unread } of expected) {
        const one = crowd.find(person => Number(person.id) === id)!
        const { body } = await one.get(`/api/apps/${app}`)
        expect([body.is_unread, body.last_message?.id]).toEqual([is_unread, newest?.id ? String(newest.id) : undefined])
        const { body: list } = await one.get(`/api/apps?unread=${is_unread}`)
        expect(list.data.map((item: Body) => item.id)).toContain(app)
        const { body: rest } = await one.get(`/api/apps?unread=${!is_unread}`)
        expect((rest.data ?? []).map((item: Body) => item.id)).not.toContain(app)
      }
    }),
    { numRuns: 15, endOnFailure: true },
  )
})
