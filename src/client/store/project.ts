import type { ActorRef } from '../connection/event-members.ts'
import type { ParleyError } from '../http/error.ts'
import { toReactions, withOptions, type Content, type Item } from './fold.ts'
import type { Items } from './items.ts'
import type { Write } from './writes.ts'

/** An item as it is shown: what the log says of it, and own writes on top. */
export type Row<Shown> = Omit<Shown, 'id'> & {
  /** Undefined until the server has made it. */
  readonly id: number | undefined
  /** Names the row, and does not change when the server gives the item its id. */
  readonly key: string
  /** Of the newest own write that is not settled. */
  readonly state: 'settled' | 'sending' | 'sent' | 'failed'
  /** Why it failed, or is not sent yet. */
  readonly error?: ParleyError | undefined
  /** Sends again what failed. */
  readonly retry?: () => void
  /** Gives up what is not sent. */
  readonly discard?: () => void
}

/** A row with writes on it, and what it was made of. */
interface Touched<Shown> {
  item: Item | undefined
  stamp: string
  row: Row<Shown> | null
}

/** What the user can do about a write. */
export interface WriteControl {
  retry: (write: Write) => void
  discard: (write: Write) => void
}

/**
 * Shows items with own writes on top. A row stays the same object until it or a write on it has changed.
 */
export class Projection<Shown extends Item> {
  readonly #control: WriteControl
  /** The keys of rows that were made here. */
  readonly #keys = new Map<number, string>()
  #settled = new WeakMap<Item, Row<Shown>>()
  #touched = new Map<string, Touched<Shown>>()

  constructor(control: WriteControl) {
    this.#control = control
  }

  /** A row that was made here keeps its key. */
  keep(id: number, key: string): void {
    this.#keys.set(id, key)
  }

  /**
   * Items that may be what unanswered writes have made: those that were read, and not heard of by an event, do not say by
   * which request they were made. They are not shown beside the rows of those writes until the answers tell.
   */
  findTwins(read: readonly Shown[], writes: readonly Write[], user: number | undefined): void {
    const taken = new Set<number>(this.#keys.keys())
    for (const write of writes) {
      if (write.action !== 'create' || write.made !== undefined || !write.isTried) continue
      const { since = 0, body } = write
      const twin = read.find(
        item =>
          item.id > since &&
          !taken.has(item.id) &&
          item.created_by.id === user &&
          (item as Content).text === body?.text,
      )
      write.twin = twin?.id
      if (twin !== undefined) taken.add(twin.id)
    }
  }

  rows(items: Items<Shown>, writes: readonly Write[], user: ActorRef | undefined): readonly Row<Shown>[] {
    const touched = new Map<string, Touched<Shown>>()
    const byId = new Map<number, Write[]>()
    for (const write of writes) if (write.id !== undefined) byId.set(write.id, [...(byId.get(write.id) ?? []), write])
    // Shown as the rows of their writes until these are settled.
    const hidden = new Set(writes.map(({ made, twin }) => made ?? twin))
    const rows: Row<Shown>[] = []
    const through = (key: string, item: Item | undefined, own: readonly Write[], make: () => Row<Shown> | null) => {
      const stamp = own.map(({ key, state, error, made }) => `${key} ${state} ${made} ${error?.message}`).join()
      const known = this.#touched.get(key)
      const isSame = known !== undefined && known.item === item && known.stamp === stamp
      const row = isSame ? known.row : make()
      touched.set(key, { item, stamp, row })
      if (row !== null) rows.push(row)
    }
    for (const item of items.list()) {
      if (hidden.has(item.id)) continue
      const own = byId.get(item.id)
      if (own === undefined) rows.push(this.#settledRow(item))
      else through(String(item.id), item, own, () => this.#change(item, own, user))
    }
    for (const write of writes)
      if (write.action === 'create') through(write.key, undefined, [write], () => this.#create(write, user))
    this.#touched = touched
    return rows.sort((a, b) => (a.id ?? Infinity) - (b.id ?? Infinity) || 0)
  }

  #settledRow(item: Shown): Row<Shown> {
    const known = this.#settled.get(item)
    const key = this.#keyOf(item.id)
    // An answer may tell later that it was made here.
    if (known?.key === key) return known
    const row = { ...item, key, state: 'settled' } as unknown as Row<Shown>
    this.#settled.set(item, row)
    return row
  }

  #keyOf(id: number): string {
    return this.#keys.get(id) ?? String(id)
  }

  #change(item: Shown, own: readonly Write[], user: ActorRef | undefined): Row<Shown> | null {
    let shown: Item | null = item
    for (const write of own) if (shown !== null) shown = change(shown, write, user)
    if (shown === null) return null
    const { state, error } = own.find(({ state }) => state === 'failed') ?? own.at(-1)!
    const isFailed = state === 'failed'
    const failed = own.filter(({ state }) => state === 'failed')
    return {
      ...(shown as Shown),
      key: this.#keyOf(item.id),
      state,
      error,
      ...(isFailed && { retry: () => failed.forEach(this.#control.retry) }),
      ...(state !== 'sent' && { discard: () => (isFailed ? failed : own).forEach(this.#control.discard) }),
    } as unknown as Row<Shown>
  }

  #create(write: Write, user: ActorRef | undefined): Row<Shown> {
    const { key, state, error, made, at, body = {} } = write
    const text = body.text as string | undefined
    return {
      ...body,
      plain: text,
      is_trashed: false,
      created_at: at,
      created_by: user,
      ...(Array.isArray(body.options) && { options: toDraftOptions(body.options as { text: string }[]) }),
      id: made,
      key,
      state,
      error,
      ...(state === 'failed' && { retry: () => this.#control.retry(write) }),
      ...(state !== 'sent' && { discard: () => this.#control.discard(write) }),
    } as unknown as Row<Shown>
  }
}

function change(item: Item, { action, state, body = {} }: Write, user: ActorRef | undefined): Item | null {
  // What failed is shown as it is; of an edit, the text is kept until it is sent again or given up.
  if (state === 'failed' && action !== 'edit') return item
  switch (action) {
    case 'edit':
      return { ...item, ...body, html: undefined, ...('text' in body && { plain: body.text }) } as unknown as Item
    case 'trash':
    case 'delete':
      return null
    case 'react':
      return react(item, body.content as string | null, user)
    case 'vote':
      return vote(item, body.option as number, body.has_voted as boolean)
    default:
      return item
  }
}

function react(item: Item, content: string | null, user: ActorRef | undefined): Item {
  if (user === undefined) return item
  const { data = [], count = 0 } = (item as Content).reactions ?? {}
  const mine = data.find(({ created_by }) => created_by.id === user.id)
  if ((mine?.content ?? null) === content) return item
  const created_at = new Date().toISOString()
  const reactions = toReactions(data, user.id, content === null ? null : { content, created_at, created_by: user })
  return { ...item, reactions: { ...reactions, count: count + reactions.count - data.length } } as Item
}

/** A vote replaces the one that the user had in the poll. */
function vote(item: Item, id: number, hasVoted: boolean): Item {
  return withOptions(item, option => {
    const has_voted = option.id === id ? hasVoted : hasVoted ? false : option.has_voted
    if (has_voted === option.has_voted) return option
    return { ...option, has_voted, votes: { count: option.votes.count + (has_voted ? 1 : -1) } }
  })
}

function toDraftOptions(options: readonly { text: string }[]) {
  const data = options.map(({ text }, id) => ({ id, text, votes: { count: 0 }, has_voted: false }))
  return { data, count: data.length }
}
