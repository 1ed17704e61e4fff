import { inParallel } from './in-parallel.ts'
import type { Parley } from './parley.ts'
import type { Server } from './server.ts'

export interface Person {
  id: string
  token: string
}

export interface Room {
  app: string
  members: Person[]
  /** Ids of the messages that are in it from the start, oldest first. */
  messages: number[]
}

/** What a scenario needs to be there. */
export interface Need {
  rooms: number
  members: number
  /** Messages in each room. */
  messages: number
}

/** Everybody's messages: what people write, one in sixteen with something to render. */
export const texts = [
  'Sure, I will have a look at it right after lunch, sounds good',
  'Could you send me the numbers for the third quarter, please?',
  'The build is green again, it was the cache on the second node',
  'I moved our call to Thursday at ten, the room stays the same.',
  'Has anybody seen the draft of the contract from last Tuesday?',
  'Yes! That is what the customer asked for, word for word, too.',
  'We should talk to the people in Lisbon before we decide that.',
  'It works on my machine & on staging, so it must be the proxy.',
  'Thanks a lot for the quick help, that saved my whole evening!',
  'Two of the three tests pass, the last one needs a larger disk',
  'I have added my comments to the document, see you at the desk',
  'Who takes the notes today? I did it the last two times, sorry',
  'The invoice went out this morning, they should have it by now',
  'Good point, let us keep it simple and ship the small one now.',
  'Does it also happen when the window is closed and open again?',
  'I wrote it down, see https://wiki.example.com/plans **today**',
]

/**
 * Makes people and rooms through the API, and messages as well where the server runs elsewhere; for one of ours messages
 * come by SQL, and it must be restarted before it is used.
 */
export async function makeRooms(server: Server | Parley, { rooms, members, messages }: Need): Promise<Room[]> {
  const people = await makePeople(server, rooms * members)
  const made: Room[] = []
  await inParallel(rooms, async at => {
    const group = people.slice(at * members, (at + 1) * members)
    const room = { type: 'chat_room', name: `Room ${at}`, members: group.map(({ id }) => Number(id)) }
    const { id: app } = JSON.parse(await server.call('POST', '/api/apps', room)) as { id: string }
    made[at] = { app, members: group, messages: [] }
  })
  if (messages > 0) for (const room of made) room.messages = await fill(server, room, messages)
  return made
}

async function makePeople(server: Server, count: number): Promise<Person[]> {
  const people: Person[] = []
  const run = process.hrtime.bigint()
  await inParallel(count, async at => {
    const { id } = JSON.parse(
      await server.call('POST', '/api/users', { uid: `person-${run}-${at}`, name: `Person ${at}` }),
    )
    const { access_token } = JSON.parse(await server.call('POST', `/api/users/${id}/tokens`, { expires_in: 86_400 }))
    people[at] = { id, token: access_token }
  })
  return people
}

/** Gives a room that has none so many messages; their ids, oldest first. */
async function fill(server: Server | Parley, { app, members }: Room, count: number): Promise<number[]> {
  if ('sql' in server) {
    await addMessages(server, app, members, count)
    return count > 100_000 ? [] : await listMessages(server, app)
  }
  const ids: number[] = []
  await inParallel(count, async at => {
    const { token } = members[at % members.length]!
    const body = { text: texts[at % texts.length] }
    ids.push(Number(JSON.parse(await server.call('POST', `/api/apps/${app}/messages`, body, token)).id))
  })
  return ids.sort((a, b) => a - b)
}

/** Deletes rooms with their messages and people for good, on a server that others use. */
export async function removeRooms(server: Server, rooms: Room[]): Promise<void> {
  await inParallel(rooms.length, async at => void (await server.call('DELETE', `/api/apps/${rooms[at]!.app}`)))
  const people = rooms.flatMap(({ members }) => members)
  await inParallel(people.length, async at => void (await server.call('DELETE', `/api/users/${people[at]!.id}`)))
}

/** As the server would have left them: rows, blocks, and the counters of the app. */
async function addMessages(parley: Parley, app: string, people: Person[], count: number): Promise<void> {
  const { sql } = parley
  const authors = people.map(({ id }) => id)
  await sql`
    insert into messages (id, app_id, text, html, created_at, created_by)
    select nextval('numbers'), ${app}, text,
      case when text like '%&%' then '<p>' || replace(text, '&', '&amp;') || '</p>' end,
      now() - (${count} - i) * interval '1 second', (${authors}::bigint[])[1 + i % ${authors.length}]
    from generate_series(1, ${count}::int) i
    cross join lateral (select (${texts.slice(0, 15)}::text[])[1 + i % 15] as text) t`
  await sql`
    insert into blocks (app_id, first_id)
    select ${app}, id from (
      select id, row_number() over (order by id) as number from messages where app_id = ${app}
    ) m where number % 1000 = 1`
  await sql`
    update apps set item_count = ${count}, made_count = ${count}, rev = last.id, head_rev = last.id,
      last_id = last.id, last_by = last.created_by, prior_id = (
        select max(id) from messages where app_id = ${app} and created_by <> last.created_by
      )
    from (select id, created_by from messages where app_id = ${app} order by id desc limit 1) last
    where apps.id = ${app}`
  await sql`vacuum (analyze) messages`
}

async function listMessages(parley: Parley, app: string): Promise<number[]> {
  const rows = await parley.sql<{ id: string }[]>`select id from messages where app_id = ${app} order by id`
  return rows.map(({ id }) => Number(id))
}
