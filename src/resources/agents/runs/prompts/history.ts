import type { RunRow } from '../../../../agents/runs/run.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import { kinds } from '../../../content/kinds.ts'
import { withParts, type ContentItem } from '../../../items/parts.ts'
import type { ContentRow } from '../../../content/schema.ts'
import { findFile } from '../../../files/store.ts'
import { toItemText } from './item-text.ts'
import { isDecision } from '../triggers.ts'

/** Items before the trigger that a model is given. As the API says. */
const mostItems = 20

/** Looked at for these: some are left out. */
const mostLooked = 60

/** What was written before the trigger, by one author. */
export interface Said {
  author: number
  text: string
}

interface Wanted {
  sql: Sql
  run: RunRow
  trigger: ContentRow
  /** Nothing up to this id: neither the agent nor the asker may be shown what either has removed for themselves. */
  hiddenUntil: number
  signal: AbortSignal
}

/** What came before a trigger where it was written, oldest first. */
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

/** Newest first in the query, so that a long conversation costs no more than a short one; then turned round. */
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
  const items = await withParts(sql, told)
  return items.flatMap(item => {
    const text = toItemText(item)
    return text === '' ? [] : { author: item.created_by, text }
  })
}

/** That it could not answer is nothing that an agent has said. */
function isErrorReply({ metadata, created_by }: ContentRow, agent: number): boolean {
  return created_by === agent && typeof metadata?.error === 'string' && metadata.run !== undefined
}

/** The post as it was written, or the file by its name. */
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
