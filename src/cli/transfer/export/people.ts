import { systemUser } from '../../../auth/principal.ts'
import type { Fragment } from '../../../postgres/sql.ts'
import type { DraftLine } from '../format.ts'
import type { BlobLines } from './blobs.ts'
import { pages, pageSize, toLine } from './lines.ts'
import type { Source } from './source.ts'

type Selection = Pick<Source, 'db' | 'scope'>

interface UserRow {
  id: number
  picture_id: number | null
  directories: number[]
  provider: string | null
  model: string
  instructions: string | null
  web_search: boolean
  max_tokens: number | null
}

/** All directories; of a user, the user's. */
export async function* listDirectories({ db, scope: { user } }: Selection): AsyncGenerator<DraftLine> {
  const isWanted =
    user === null ? db`true` : db`id in (select directory_id from directory_members where user_id = ${user})`
  const find = (after: number) => db<{ id: number }[]>`
    select id, name, created_at from directories where id > ${after} and ${isWanted} order by id limit ${pageSize}`
  for await (const rows of pages(find)) for (const row of rows) yield toLine('directory', row)
}

/** The lines of users: once each, before a line names them. Of one user's export, those of no others. */
export class UserLines {
  readonly #selection: Selection
  readonly #blobs: BlobLines
  readonly #written = new Set<number>()
  readonly #gone = new Set<number>()

  constructor(selection: Selection, blobs: BlobLines) {
    this.#selection = selection
    this.#blobs = blobs
  }

  /** How the file names a user; call `add` before. */
  readonly ref = <Id extends number | null>(id: Id): string | Exclude<Id, number> => {
    if (id === null) return id as Exclude<Id, number>
    if (id === systemUser) return 'system'
    return this.isGone(id) ? 'deleted' : String(id)
  }

  readonly isGone = (id: number): boolean => id < 0 || this.#gone.has(id)

  /** All users, or the one of the scope. */
  async *all(): AsyncGenerator<DraftLine> {
    const { db, scope } = this.#selection
    const isWanted = scope.user === null ? db`u.id > 0` : db`u.id = ${scope.user}`
    for await (const rows of pages(after => this.#find(after, isWanted))) yield* this.#toLines(rows)
  }

  /** The lines of the users with these ids that are not in the file yet. */
  async *add(ids: Iterable<number | null>): AsyncGenerator<DraftLine> {
    const { db, scope } = this.#selection
    if (scope.user !== null) return
    const missing = [...new Set(ids)].filter(
      id => id !== null && id > 0 && !this.#written.has(id) && !this.#gone.has(id),
    ) as number[]
    if (missing.length === 0) return
    for await (const rows of pages(after => this.#find(after, db`u.id = any(${missing}::bigint[])`)))
      yield* this.#toLines(rows)
    for (const id of missing) if (!this.#written.has(id)) this.#gone.add(id)
  }

  #find(after: number, isWanted: Fragment) {
    const { db } = this.#selection
    return db<UserRow[]>`
      select u.id, u.uid, u.name, u.given_name, u.middle_name, u.family_name, u.nickname, u.email, u.phone_number,
        u.username, u.comment, u.metadata, u.tags, u.picture_id, u.created_at, u.updated_at, u.trashed_at,
        array(select directory_id from directory_members where user_id = u.id order by 1) as directories,
        a.provider, a.model, a.instructions, a.web_search, a.max_tokens
      from users u left join agents a on a.user_id = u.id
      where u.id > ${after} and ${isWanted} order by u.id limit ${pageSize}`
  }

  async *#toLines(rows: UserRow[]): AsyncGenerator<DraftLine> {
    for (const { picture_id, directories, provider, model, instructions, web_search, max_tokens, ...row } of rows) {
      this.#written.add(row.id)
      const agent = provider === null ? null : { provider, model, instructions, web_search, max_tokens }
      yield toLine('user', { ...row, directories: directories.map(String), agent })
      if (picture_id === null) continue
      // Its author may be a user that comes later.
      yield* this.#blobs.list([picture_id], () => String(row.id))
      if (this.#blobs.has(picture_id)) yield { type: 'picture', user: String(row.id), blob: String(picture_id) }
    }
  }
}

/** Who follows whom; of a user, whom the user follows, and by whom the user is followed. */
export async function* listFollows({ db, scope: { user } }: Selection): AsyncGenerator<DraftLine> {
  const isWanted = user === null ? db`true` : db`${user} in (user_id, followed_id)`
  type Row = { id: number; follows: { user: number; followed: number; created_at: Date }[] }
  const find = (after: number) => db<Row[]>`
    select user_id as id, json_agg(json_build_object('user', user_id, 'followed', followed_id, 'created_at', created_at)) as follows
    from follows where user_id > ${after} and ${isWanted} group by 1 order by 1 limit ${pageSize}`
  for await (const rows of pages(find))
    for (const { follows } of rows) for (const follow of follows) yield toLine('follow', follow)
}
