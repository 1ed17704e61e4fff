import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyMissed, withBodies } from '../../src/engine/catch-up.ts'
import type { Commit } from '../../src/engine/event.ts'
import { Recent, recentLimit } from '../../src/engine/recent.ts'
import { AppState, type AppRow, type MemberRow } from '../../src/engine/state.ts'
import { findApp, listMembers } from '../../src/engine/store.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { message } from '../../src/resources/messages/kind.ts'
import { listEvents } from '../../src/log/events.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { openActors } from '../support/actors.ts'
import type { Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const deeds = [
  ...['send', 'send', 'send', 'edit', 'trash', 'restore', 'delete'],
  ...['mark', 'unmark', 'pin', 'star', 'archive', 'subscribe'],
  ...['join', 'leave', 'add', 'remove', 'promote', 'demote', 'shut out'],
  ...['rename', 'open', 'close', 'bin'],
] as const

/** Somebody does something; `who`, `whom` and `which` are taken modulo what there is. */
const step = fc.record({ who: fc.nat(), whom: fc.nat(), which: fc.nat(20), what: fc.constantFrom(...deeds) })
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

interface Room {
  app: string
  crowd: Person[]
  sent: string[]
}

/** What comes of it is not asked: much is refused, and that must leave no trace either. */
async function act({ app, crowd, sent }: Room, { who, whom, which, what }: Step, admin: Client): Promise<unknown> {
  const one = crowd[who % crowd.length]!
  const other = crowd[whom % crowd.length]!
  const path = `/api/apps/${app}`
  const target = sent.at(-1 - (which % Math.max(1, sent.length))) ?? '0'
  const put = (access: string) => one.put(`${path}/members/${other.id}`, { access })
  switch (what) {
    case 'send': {
      const { status, body } = await one.post(`${path}/messages`, { text: `message ${sent.length}` })
      return status === 201 && sent.push(body.id)
    }
    case 'edit':
      return one.patch(`/api/messages/${target}`, { text: `edited ${which}` })
    case 'trash':
    case 'restore':
      return one.post(`/api/messages/${target}/${what}`)
    case 'delete':
      return one.delete(`/api/messages/${target}`)
    case 'mark':
      return one.put(`${path}/mark?message_id=${target}`)
    case 'unmark':
      return one.delete(`${path}/mark`)
    case 'pin':
    case 'archive':
      return which % 2 ? one.put(`${path}/${what}`) : one.delete(`${path}/${what}`)
    case 'star':
      return which % 2 ? one.post(`${path}/stars`) : one.delete(`${path}/stars`)
    case 'subscribe':
      return one.post(`${path}/${which % 2 ? '' : 'un'}subscribe`)
    case 'join':
      return one.put('/api/apps/place', { type: 'chat' })
    case 'leave':
      return one.delete(`${path}/members/${one.id}`)
    case 'add':
      return admin.put(`${path}/members`, [{ user: one.id }, { user: other.id, access: 'read' }])
    case 'remove':
      return one.delete(`${path}/members/${other.id}`)
    case 'promote':
      return put('admin')
    case 'demote':
      return put('write')
    case 'shut out':
      return put('none')
    case 'rename':
      return one.patch(path, { name: `name ${which}`, tags: [`tag ${which}`] })
    case 'open':
      return admin.patch(path, { access: which % 2 ? 'write' : 'read' })
    case 'close':
      return admin.patch(path, { access: 'none' })
    case 'bin':
      await admin.post(`${path}/trash`)
      return admin.post(`${path}/restore`)
  }
}

async function load(sql: Sql, app: number): Promise<AppState> {
  const items = await message.store.listRecent(sql, app, recentLimit)
  return new AppState((await findApp(sql, app))!, await listMembers(sql, app), new Recent(items.reverse(), true))
}

/** Members in their order, because names and heirs depend on it; those who are none have no order. */
function picture(state: AppState) {
  const rows = [...state.members()]
  const members = rows.filter(row => row.access !== null)
  const others = rows.filter(row => row.access === null).toSorted((a, b) => a.user_id - b.user_id)
  return { app: state.app, members, others, items: state.recent.items, count: state.memberCount }
}

/** Each commit begins with what the one before it has left. */
function expectJoined(first: AppRow, commits: readonly Commit[]): void {
  let app = first
  const rows = new Map<number, MemberRow | undefined>()
  for (const { before, after, members } of commits) {
    expect(before).toEqual(app)
    app = after
    for (const [user, row] of members) {
      if (rows.has(user)) expect(row.before).toEqual(rows.get(user))
      rows.set(user, row.after)
    }
  }
}

/** All that can be asked about the app, as everybody sees it. */
function view(server: Server, { app, crowd }: Room): Promise<unknown[]> {
  const paths = ['', '/members', '/messages?order_by=id+desc&trashed=null', '/messages?skip=2&take=3']
  const callers = [server.key, ...crowd.map(({ token }) => token)]
  const ask = async (token: string, path: string) => {
    const { status, body } = await server.request('GET', `/api/apps/${app}${path}`, { token })
    // Whether somebody is here is known where they came to; and each request has a name of its own.
    return [status, path, JSON.stringify(body).replaceAll(/"(presence|request_id)":"[\w-]+",?/g, '')]
  }
  return Promise.all(callers.flatMap(token => paths.map(path => ask(token, path))))
}

test('whatever people do, a state moved over the events is the state that the database holds', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const { sql } = database
  await using node = await openActors(database.url)
  const commits: Commit[] = []
  node.apps.onCommit(commit => commits.push(commit))
  const crowd = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim'].map(server.person))

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), fc.nat(29), async (steps, pause) => {
      const { body } = await crowd[0]!.put('/api/apps/place', { type: 'chat', access: 'read', members: [crowd[1]!.id] })
      const room: Room = { app: body.id, crowd, sent: [] }
      const id = Number(room.app)
      const states = [await load(sql, id)]
      const first = states[0]!.app
      const unpin = await node.apps.pin(id)
      commits.length = 0
      for (const [i, one] of steps.entries()) {
        await act(room, one, server.admin)
        if (i % 3 === 0) await node.apps.remoteCommits.poll()
        if (i === pause) states.push(await load(sql, id))
      }

      // From the first day on, and from somewhere on the way.
      const fresh = await load(sql, id)
      for (const state of states) {
        const missed = await listEvents(sql, id, state.app.head_rev, 1_000)
        applyMissed(state, { events: await withBodies(sql, missed, eventTypes) })
        expect(picture(state)).toEqual(picture(fresh))
      }
      // What listeners have kept of each commit still joins the one before.
      await node.apps.remoteCommits.poll()
      expectJoined(
        first,
        commits.filter(({ after }) => after.id === id),
      )
      unpin()
      // What the first node keeps in memory is what the second one reads, soon: it may have looked in on the way.
      const kept = await view(server, room)
      await eventually(async () => expect(await view(other, room)).toEqual(kept))
      const [counted] = await sql`
        select count(*) filter (where trashed_at is null) as item_count,
          count(*) filter (where trashed_at is not null) as trashed_count,
          max(id) filter (where trashed_at is null) as last_id
        from messages where app_id = ${id}`
      expect(fresh.app).toMatchObject(counted!)
      await server.admin.delete(`/api/apps/${room.app}`)
    }),
    { numRuns: 30, endOnFailure: true },
  )
})
