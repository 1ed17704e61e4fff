import type { RunRow } from '../../../../agents/runs/run.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import { kinds } from '../../../content/kinds.ts'
import { withParts } from '../../../items/load.ts'
import type { ContentItem } from '../../../items/parts.ts'
import type { ContentRow } from '../../../content/schema.ts'
import { findFile } from '../../../files/store.ts'
import { Yielder } from '../../../../lib/yielder.ts'
import { toItemText } from './item-text.ts'
import { isDecision } from '../triggers.ts'

/** The most items before the trigger that a model gets. A rule of the API. */
const mostItems = 20

/** Items read for these: some are left out. */
const mostLooked = 60

/** An earlier text by one author. */
export interface Said {
  author: number
  text: string
}

interface Wanted {
  sql: Sql
  run: RunRow
  trigger: ContentRow
  /** Items up to this id are excluded: neither the agent nor the asker may see what either has removed. */
  hiddenUntil: number
  signal: AbortSignal
}

/** The items before a trigger in its conversation, oldest first. */
export async function readHistory(wanted: Wanted): Promise<Said[]> {
  const { sql, run, trigger } = wanted
  if (run.item_type === 'post') return []
  const { parent_type, parent_id } = trigger
  const rows = await listBefore(wanted)
  const said = await toSaid(sql, rows, run)
  const shown = said.slice(-mostItems)
  if (parent_id === null) return shown
  const parent = await readParent(sql, parent_type!, parent_id)
  return parent === null ? shown : [parent, ...shown]
}

/** Newest first in the query, so that a long conversation costs no more than a short one; then reversed. */
async function listBefore({ sql, run, trigger, hiddenUntil }: Wanted): Promise<ContentRow[]> {
  const { table } = kinds[run.item_type].store
  const { parent_id } = trigger
  const rows = await sql<ContentRow[]>`
    select * from ${sql(table)}
    where app_id = ${run.app_id} and id < ${run.item_id} and id > ${hiddenUntil} and trashed_at is null
      and ${parent_id === null ? sql`parent_id is null` : sql`parent_id = ${parent_id}`}
    order by id desc limit ${mostLooked}`
  return rows.reverse()
}

async function toSaid(sql: Sql, rows: ContentRow[], { agent_id }: RunRow): Promise<Said[]> {
  const told = rows.filter(row => !isDecision(row) && !isErrorReply(row, agent_id))
  const said: Said[] = []
  for (const item of await withParts(sql, told)) {
    // A text of 64 KiB can take 20 ms, and there may be many of them.
    const yielder = new Yielder()
    const text = toItemText(item)
    if (text !== '') said.push({ author: item.created_by, text })
    await yielder.rest()
  }
  return said
}

/** Error replies are no answers of the agent. */
function isErrorReply({ metadata, created_by }: ContentRow, agent: number): boolean {
  return created_by === agent && typeof metadata?.error === 'string' && metadata.run !== undefined
}

/** The text of the post, or the name of the file. */
async function readParent(sql: Sql, type: 'post' | 'file', id: number): Promise<Said | null> {
  if (type === 'file') {
    const file = await findFile(sql, id)
    return file === null ? null : { author: file.created_by, text: `[file: ${file.name}]` }
  }
  const row = await kinds.post.store.find(sql, id)
  if (row === null) return null
  const [item] = await withParts(sql, [row as ContentItem])
  return { author: row.created_by, text: toItemText(item!) }
}
