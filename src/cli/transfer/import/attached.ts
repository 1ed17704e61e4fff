import type { Tx } from '../../../postgres/sql.ts'
import { counters } from '../../check/counters.ts'
import type { LineOf } from '../format.ts'
import { fault, type Numbered } from '../lines.ts'
import type { Refs } from './refs.ts'
import { insertRows, type Numbers } from './rows.ts'

export type AttachedLine = Numbered<LineOf<'reaction' | 'vote' | 'star' | 'subscription'>>

/** Items whose counts have changed, by type. */
export class Touched {
  readonly #ids = new Map<string, Set<number>>()

  add(type: string, id: number): void {
    const ids = this.#ids.get(type) ?? new Set()
    this.#ids.set(type, ids.add(id))
  }

  /** Counts again, as `check` does. */
  async count(tx: Tx): Promise<void> {
    for (const [type, ids] of this.#ids) {
      const columns = counters.filter(({ table, key }) => table === `${type}s` && key === 'id')
      const set = columns.map(({ column, actual }) => `${column} = ${actual}`).join()
      await tx.unsafe(`update ${type}s t set ${set} where id = any($1::bigint[])`, [`{${[...ids].join()}}`])
    }
  }
}

/** Adds reactions, votes, stars and subscriptions. One for each user and item: what is there stays. */
export async function addAttached(
  tx: Tx,
  refs: Refs,
  numbers: Numbers,
  lines: readonly AttachedLine[],
  touched: Touched,
): Promise<void> {
  const rows: Record<string, object[]> = { reactions: [], votes: [], stars: [], subscriptions: [] }
  const places = lines.map(line => ({ line, item: refs.need('item', line.item, line.number) }))
  const items = [...new Set(places.map(({ item }) => item.id))]
  const apps = await findApps(tx, items)
  const options = await findOptions(tx, items)
  for (const { line, item } of places) {
    const user_id = refs.need('user', line.user, line.number).id
    const id = numbers.next()
    const app_id = apps.get(item.id)
    if (line.type === 'reaction') {
      if (item.type === 'file') throw fault(line.number, 'A file has no reactions.')
      const { content, created_at } = line
      rows.reactions!.push({ item_id: item.id, user_id, id, app_id, content, created_at })
    } else if (line.type === 'vote') {
      const option_id = options.get(`${item.id}:${line.option}`)
      if (option_id === undefined) throw fault(line.number, `The item ${line.item} has no option ${line.option}.`)
      rows.votes!.push({ item_id: item.id, user_id, id, option_id })
      touched.add('option', option_id)
    } else {
      const entity = { entity_type: item.type, entity_id: item.id, user_id }
      if (line.type === 'star') rows.stars!.push({ ...entity, app_id, created_at: line.created_at })
      else rows.subscriptions!.push({ ...entity, is_subscribed: line.is_subscribed, since: id })
    }
    touched.add(item.type, item.id)
  }
  for (const [table, some] of Object.entries(rows)) await insertRows(tx, table, some, 'on conflict do nothing')
}

async function findApps(tx: Tx, items: number[]): Promise<Map<number, number>> {
  const tables = ['messages', 'posts', 'comments', 'files']
  const rows = await tx.unsafe<{ id: number; app_id: number }[]>(
    tables.map(table => `select id, app_id from ${table} where id = any($1::bigint[])`).join(' union all '),
    [`{${items.join()}}`],
  )
  return new Map(rows.map(({ id, app_id }) => [id, app_id]))
}

async function findOptions(tx: Tx, items: number[]): Promise<Map<string, number>> {
  const rows = await tx<{ id: number; item_id: number; position: number }[]>`
    select id, item_id, position from options where item_id = any(${items}::bigint[])`
  return new Map(rows.map(({ id, item_id, position }) => [`${item_id}:${position}`, id]))
}

/** Sets pictures of users and apps that have none. */
export async function addPictures(tx: Tx, refs: Refs, lines: readonly Numbered<LineOf<'picture'>>[]): Promise<void> {
  for (const { user, app, blob, number } of lines) {
    const picture = refs.need('blob', blob, number).id
    const [table, id] = user ? ['users', refs.idOf('user', user, number)] : ['apps', refs.idOf('app', app, number)]
    await tx`update ${tx(table as string)} set picture_id = ${picture} where id = ${id} and picture_id is null`
  }
}
