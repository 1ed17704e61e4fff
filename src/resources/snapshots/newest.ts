import type { AppState } from '../../engine/state.ts'
import type { Db } from '../../postgres/sql.ts'
import { kinds } from '../content/kinds.ts'
import type { ContentRow } from '../content/schema.ts'
import { listFiles } from '../files/pages.ts'
import { readFiles } from '../files/show.ts'
import { readItems } from '../items/show.ts'
import type { Served } from '../route.ts'

/**
 * The most characters of the texts of a snapshot's items, though one is shown whatever its length: a client that is slow
 * would be cut off for what waits for it. A guess: a third of what may wait.
 */
const textLimit = 100_000

type Reader = Served<'apps' | 'userCache' | 'presence' | 'by' | 'origin'> & { sql: Db }

/** The newest items of an app, read and yet to be shown. */
interface Newest {
  type: 'message' | 'post' | 'comment' | 'file'
  /** The users whom `show` needs in memory. */
  names: number[]
  hasMore: boolean
  show(): object[]
}

/** Up to `most` of the newest items of the app's kind, newest first, as of the snapshot that `sql` reads from. */
export async function readNewest(state: AppState, most: number, reader: Reader): Promise<Newest> {
  const { app } = state
  const { sql, by } = reader
  const kind = Object.values(kinds).find(({ fits }) => fits(app.type))
  if (kind === undefined) {
    const order = [{ field: 'id' as const, descending: true }]
    const page = { skip: 0, take: most + 1, countOnly: false, order, q: undefined, tags: [], trashed: false }
    const { rows } = await listFiles(sql, { apps: [app.id], writable: [] }, page)
    return { type: 'file', hasMore: rows.length > most, ...(await readFiles(rows.slice(0, most), reader, state)) }
  }
  const hidden = state.member(by.user)?.hidden_id ?? 0
  const found = await kind.store.listRecent(sql, app.id, most + 1)
  const visible = found.filter(({ id }) => id > hidden)
  const rows = withinLimit(visible.slice(0, most))
  return { type: kind.entity, hasMore: visible.length > rows.length, ...(await readItems(kind, rows, reader, state)) }
}

function withinLimit(rows: ContentRow[]): ContentRow[] {
  let characters = 0
  const end = rows.findIndex(({ text }) => (characters += text?.length ?? 0) > textLimit)
  return end === -1 ? rows : rows.slice(0, Math.max(1, end))
}
