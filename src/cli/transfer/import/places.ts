import type { AppRow } from '../../../engine/state.ts'
import { blockSize } from '../../../engine/state.ts'
import type { Tx } from '../../../postgres/sql.ts'
import { withMessage } from '../../../resources/apps/own/unread.ts'
import { fault } from '../lines.ts'
import { insertRows, type Numbers } from './rows.ts'

/** An app with the time of the newest item in it. */
type AppPlace = Pick<AppRow, 'id' | 'type' | 'head_at' | 'made_count' | 'last_id' | 'last_by' | 'prior_id'> & {
  item_count: number
  trashed_count: number
  newest_at: Date | null
  /** Further visible comments on visible posts and files. */
  comments: number
}

/** What an item may be about, or hang on. */
export interface ItemPlace {
  type: string
  app_id: number
  made_count: number
  trashed_at: Date | null
}

interface NewItem {
  id: number
  type: string
  app_id: number
  parent_id: number | null
  created_at: Date
  created_by: number
  trashed_at: Date | null
}

/** The apps and items that a batch adds items to, and all that is derived from these: counters, newest messages, blocks. */
export class Places {
  readonly #apps: Map<number, AppPlace>
  readonly #items: Map<number, ItemPlace>
  readonly #blocks: { app_id: number; parent_id: number; first_id: number }[] = []
  readonly #trashed: { app_id: number; parent_id: number; id: number }[] = []
  /** Apps in which nothing was ever written before. */
  readonly #empty: readonly number[]
  readonly #changed = new Set<number>()

  private constructor(apps: Map<number, AppPlace>, items: Map<number, ItemPlace>) {
    this.#apps = apps
    this.#items = items
    this.#empty = [...apps.values()].filter(({ made_count }) => made_count === 0).map(({ id }) => id)
  }

  static async open(tx: Tx, apps: number[], items: number[]): Promise<Places> {
    const newest = ['messages', 'posts', 'comments', 'files'].map(
      table => `(select created_at from ${table} where app_id = a.id ${table === 'files' ? 'and parent_id is null' : ''}
        order by app_id desc, id desc limit 1)`,
    )
    const rows = await tx.unsafe<AppPlace[]>(
      `select id, type, head_at, made_count, item_count, trashed_count, last_id, last_by, prior_id,
        greatest(${newest.join()}) as newest_at, 0 as comments
      from apps a where id = any($1::bigint[]) order by id for update`,
      [`{${apps.join()}}`],
    )
    const parents = await tx.unsafe<(ItemPlace & { id: number })[]>(
      ['message', 'post', 'comment', 'file']
        .map(
          type =>
            `select id, '${type}' as type, app_id, made_count, trashed_at from ${type}s where id = any($1::bigint[])`,
        )
        .join(' union all '),
      [`{${items.join()}}`],
    )
    return new Places(new Map(rows.map(row => [row.id, row])), new Map(parents.map(row => [row.id, row])))
  }

  /** The app of an item. StartFault where the item would not follow the others; `at` is null for an attachment, which need not. */
  findApp(app: number, at: Date | null, line: number): AppPlace {
    const place = this.#apps.get(app)
    if (place === undefined) throw fault(line, 'Its app was deleted after it had been imported.')
    if (at !== null && place.newest_at !== null && at < place.newest_at) {
      throw fault(
        line,
        `created_at is before that of an item that the app already has (${place.newest_at.toISOString()}). ` +
          'The items of an app stand in the order of their times.',
      )
    }
    return place
  }

  find(item: number): ItemPlace | undefined {
    return this.#items.get(item)
  }

  /** Gives an app a new rev. */
  change(app: number): void {
    this.#changed.add(app)
  }

  /** Counts an item. Attachments of items are in no list of their app. */
  add(item: NewItem): void {
    const { id, type, app_id, parent_id, created_at, created_by, trashed_at } = item
    const app = this.#apps.get(app_id)!
    this.change(app_id)
    this.#items.set(id, { type, app_id, made_count: 0, trashed_at })
    if (type === 'file' && parent_id !== null) return
    app.newest_at = created_at
    const parent = parent_id === null ? null : this.#items.get(parent_id)!
    const counted = parent ?? app
    if (counted.made_count % blockSize === 0) this.#blocks.push({ app_id, parent_id: parent_id ?? 0, first_id: id })
    counted.made_count++
    if (trashed_at !== null) this.#trashed.push({ app_id, parent_id: parent_id ?? 0, id })
    if (parent !== null) app.comments += trashed_at === null && parent.trashed_at === null ? 1 : 0
    else if (trashed_at !== null) app.trashed_count++
    else {
      app.item_count++
      if (type === 'message') {
        const { last_id, last_by, prior_id } = withMessage(app, id, created_by)
        Object.assign(app, { last_id, last_by, prior_id })
      }
    }
  }

  /**
   * Writes what is derived. Each changed app gets a new rev without an event, so that its history begins after it, as that of
   * an app whose events have been dropped. Nothing of it is left to be told in notifications, but what happened before in an
   * app that is in use.
   */
  async save(tx: Tx, numbers: Numbers): Promise<void> {
    const changed = [...this.#apps.values()].filter(({ id }) => this.#changed.has(id))
    const rows = changed.map(({ comments: _, newest_at, ...row }) => ({
      ...row,
      head_at: newest_at !== null && newest_at > row.head_at ? newest_at : row.head_at,
      rev: numbers.next(),
    }))
    await tx`
      with r as (select * from jsonb_populate_recordset(null::apps, ${JSON.stringify(rows)}::text::jsonb)), done as (
        insert into notification_cursors (app_id, rev, rolled_id)
        select id, rev, rev from r
        where id = any(${this.#empty as number[]}::bigint[]) or not exists (
          select from events e where e.app_id = r.id
            and e.rev > coalesce((select c.rev from notification_cursors c where c.app_id = r.id), 0))
        on conflict (app_id) do update set rev = excluded.rev, rolled_id = excluded.rolled_id
      )
      update apps a set rev = r.rev, head_rev = r.rev, guard_rev = r.rev, head_at = r.head_at, made_count = r.made_count,
        item_count = r.item_count, trashed_count = r.trashed_count, last_id = r.last_id, last_by = r.last_by,
        prior_id = r.prior_id
      from r where a.id = r.id`
    const totals = changed.map(({ id, comments }) => ({ app_id: id, count: comments }))
    await insertRows(
      tx,
      'comment_totals',
      totals.filter(({ count }) => count > 0),
      'on conflict (app_id) do update set count = comment_totals.count + excluded.count',
    )
    const parents = Array.from(this.#items, ([id, { type, made_count }]) => ({ id, type, made_count }))
    for (const table of ['posts', 'files']) {
      const commented = parents.filter(({ type, made_count }) => `${type}s` === table && made_count > 0)
      if (commented.length === 0) continue
      await tx`
        update ${tx(table)} t set made_count = r.made_count
        from jsonb_to_recordset(${JSON.stringify(commented)}::text::jsonb) r(id bigint, made_count bigint) where t.id = r.id`
    }
    await insertRows(
      tx,
      'blocks',
      this.#blocks.map(block => ({ ...block, trashed_count: 0, deleted_count: 0 })),
    )
    if (this.#trashed.length === 0) return
    await tx`
      update blocks b set trashed_count = b.trashed_count + r.count
      from (
        select t.app_id, t.parent_id, f.first_id, count(*)::int as count
        from jsonb_to_recordset(${JSON.stringify(this.#trashed)}::text::jsonb) t(app_id bigint, parent_id bigint, id bigint)
        cross join lateral (
          select max(first_id) as first_id from blocks x
          where x.app_id = t.app_id and x.parent_id = t.parent_id and x.first_id <= t.id
        ) f
        group by 1, 2, 3
      ) r
      where b.app_id = r.app_id and b.parent_id = r.parent_id and b.first_id = r.first_id`
  }
}
