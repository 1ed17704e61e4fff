import type { Sql } from '../../src/postgres/sql.ts'
import type { Server } from '../server.ts'
import { texts, type Person } from '../world.ts'

/** Rows in one statement. */
const portion = 50_000

/** Members that the API takes in one request. */
const membersAtOnce = 500

/** A room that one person has filled, who was also told much, as were all others in it. */
export interface FullRoom {
  app: number
  author: number
}

/** How much of it there is. */
interface Fullness {
  messages: number
  notifications: number
  /** Of them those of the author. */
  ofAuthor: number
}

/** The empty room, through the API. */
export async function makeRoom(server: Server, people: Person[]): Promise<FullRoom> {
  const author = { uid: `author-${process.hrtime.bigint()}`, name: 'Somebody who wrote much' }
  const { id } = JSON.parse(await server.call('POST', '/api/users', author)) as { id: string }
  const members = [id, ...people.map(person => person.id)].slice(0, membersAtOnce).map(Number)
  const room = { type: 'chat_room', name: 'Somewhere much was written', members }
  const { id: app } = JSON.parse(await server.call('POST', '/api/apps', room)) as { id: string }
  return { app: Number(app), author: Number(id) }
}

/** Fills it as the server would have, with the words of messages; no server may run. */
export async function fillRoom(
  sql: Sql,
  { app, author }: FullRoom,
  { messages, notifications, ofAuthor }: Fullness,
  say: (line: string) => void,
): Promise<void> {
  for (let from = 1; from <= messages; from += portion) {
    const to = Math.min(messages, from + portion - 1)
    await sql`
      with made as (
        insert into messages (id, app_id, text, created_at, created_by)
        select nextval('numbers'), ${app}, (${texts}::text[])[1 + i % ${texts.length}], now() + i * interval '1 microsecond', ${author}
        from generate_series(${from}::int, ${to}::int) i
        returning id, app_id, text, tags
      )
      insert into messages_terms (id, terms) select id, search_terms(app_id, text, tags) from made`
    say(`  messages: ${to.toLocaleString('en')} of ${messages.toLocaleString('en')}`)
  }
  await sql`
    insert into blocks (app_id, first_id)
    select ${app}, id from (
      select id, row_number() over (order by id) as number from messages where app_id = ${app}
    ) m where number % 1000 = 1`
  await sql`
    update apps set item_count = ${messages}, made_count = ${messages}, rev = last.id, head_rev = last.id,
      last_id = last.id, last_by = ${author}
    from (select max(id) as id from messages where app_id = ${app}) last
    where apps.id = ${app}`
  await sql`
    update notification_cursors set rev = a.rev, rolled_id = a.last_id from apps a
    where a.id = ${app} and app_id = a.id`
  for (let from = 1; from <= notifications; from += portion) {
    const to = Math.min(notifications, from + portion - 1)
    await tell(sql, { app, author, from, to, ofAuthor })
    say(`  notifications: ${to.toLocaleString('en')} of ${notifications.toLocaleString('en')}`)
  }
  await sql`update followed_position set trimmed_id = (select max(id) from notifications)`
}

/** The first ones tell the author, the others in turn all who are in the room; each of another message. */
async function tell(
  sql: Sql,
  { app, author, from, to, ofAuthor }: { app: number; author: number; from: number; to: number; ofAuthor: number },
): Promise<void> {
  await sql`
    with people as (
      select user_id, row_number() over (order by user_id) - 1 as place, count(*) over () as all
      from members where app_id = ${app} and user_id <> ${author}
    ), linked as (
      select id, text, ${from}::int + row_number() over (order by id) - 1 as i from (
        select id, text from messages where app_id = ${app} order by app_id, id offset ${from - 1} limit ${to - from + 1}
      ) m
    )
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, args, link_type, link_id,
      created_at, changed_id, change)
    select id, user_id, ${app}, 'mention', 'message_created', array[${author}::bigint],
      '**{0}** mentioned you in a message: "{1}"', array['Somebody', text], 'message', link, now(), id,
      'notification_created'
    from (
      select nextval('notification_changes') as id, l.id as link, l.text,
        case when l.i <= ${ofAuthor} then ${author}::bigint else p.user_id end as user_id
      from linked l join people p on p.place = l.i % p.all
    ) n`
}
