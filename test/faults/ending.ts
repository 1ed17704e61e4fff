import { client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import type { Cluster } from './cluster.ts'
import type { Ending, Shown } from './history.ts'
import type { World } from './world.ts'

/** By then a node has its connections again, also on a busy machine. */
const recoveryMs = 60_000

/** Reads what the database holds, and what each node tells everybody about it. */
export async function readEnding({ sql, nodes }: Cluster, { apps, people }: World): Promise<Ending> {
  return {
    apps: await sql<Ending['apps']>`
      select id, head_rev, item_count, trashed_count, made_count, last_id, last_by, prior_id
      from apps where id = any(${apps}) order by id`,
    events: await sql<Ending['events']>`
      select app_id, rev, prev, type, actor_id, entity_id, case type when 'app_marked' then facts end as facts
      from events where app_id = any(${apps}) order by app_id, rev`,
    messages: await sql<Ending['messages']>`
      select id, app_id, text, created_by, trashed_at is not null as is_trashed, metadata ->> 'edit' as edit
      from messages where app_id = any(${apps}) order by id`,
    members: await sql<Ending['members']>`
      select app_id, user_id, marked_id from members where app_id = any(${apps}) order by app_id, user_id`,
    shown: (
      await Promise.all(
        nodes.flatMap(node => people.flatMap(person => apps.map(app => show(node.url, node.number, app, person)))),
      )
    ).flat(),
  }
}

function show(url: string, node: number, app: number, { id: user, token }: World['people'][number]): Promise<Shown> {
  const { get } = client(url, token)
  return eventually(
    async () => {
      const [shown, counted] = [await get(`/api/apps/${app}`), await get(`/api/apps/${app}/messages?count_only=true`)]
      if (shown.status !== 200 || counted.status !== 200) {
        throw new Error(`Node ${node} answers with ${shown.status} and ${counted.status} although nothing is broken`)
      }
      return { node, app, user, is_unread: shown.body.is_unread, count: Number(counted.body.count) }
    },
    { timeoutMs: recoveryMs, everyMs: 500 },
  )
}
