import { toParleyError, type ParleyError } from '../http/error.ts'
import type { Http, Query } from '../http/http.ts'
import { newKey } from '../http/key.ts'
import type { ActorRef } from '../connection/event-members.ts'
import type { AppSnapshot, ItemType, RealtimeEvent } from '../connection/frames.ts'
import { LiveCollection, type Condition } from '../store/collection.ts'
import type { Feed, View } from '../store/feed.ts'
import { pageSize } from '../store/feeds.ts'
import { optionsOf, toChange, toItem, type Item } from '../store/fold.ts'
import type { Keeper, Kept } from '../store/kept.ts'
import { Items } from '../store/items.ts'
import { Outbox, type Sendable } from '../store/outbox.ts'
import { Projection, type Row } from '../store/project.ts'
import { Writes, type Write, type WriteRequest } from '../store/writes.ts'
import { Readings } from './readings.ts'

/** What collections need of their client. */
export interface ClientParts {
  http: Http
  /** The user, as far as is known. */
  user(): ActorRef | undefined
  /** What is in the way of the connection. */
  trouble(): ParleyError | undefined
  /** Where lists are kept beyond the life of the page, if anywhere. */
  readonly keeper: Keeper | undefined
}

export interface ItemSource {
  type: ItemType
  /** The path of its list. */
  path: string
  /** What its items are comments on. */
  parent?: { type: 'post' | 'file'; id: number }
}

interface ListBody {
  data?: object[]
  end?: number
  count: number
}

/** How long an answered write may wait for its event before it is read. */
const eventMs = 3_000

/**
 * The newest items of a list, oldest first, and own writes on top. Items are added to it, changed and removed by events;
 * an own write is shown at once, and stays its row for life.
 */
export class ItemCollection<Shown extends Item, Draft extends object>
  extends LiveCollection<readonly Row<Shown>[]>
  implements View
{
  readonly #parts: ClientParts
  readonly #feed: Feed
  readonly #source: ItemSource
  readonly #items = new Items<Shown>()
  readonly #writes = new Writes()
  readonly #outbox: Outbox
  readonly #projection = new Projection<Shown>({
    retry: write => this.#retry(write),
    discard: write => this.#discard(write),
  })
  #rows: readonly Row<Shown>[] | undefined
  /** The last ones: the same as long as they have the same rows. */
  #shown: readonly Row<Shown>[] = []
  #epoch: string | undefined
  /** False until there is a first page, and again when that is not to be believed any more. */
  #isLoaded = false
  #isLoading = false
  #more: Promise<void> | undefined
  /** Why there is no list. */
  #refusal: ParleyError | undefined
  readonly #readings: Readings

  constructor(parts: ClientParts, feed: Feed, source: ItemSource) {
    super()
    this.#parts = parts
    this.#feed = feed
    this.#source = source
    this.#readings = new Readings({
      http: parts.http,
      feed,
      apply: event => this.#apply(event),
      onRetry: () => this.changed(),
    })
    this.#outbox = new Outbox({
      http: parts.http,
      writes: this.#writes,
      toRequest: write => this.#toRequest(write),
      itemOf: id => this.#items.get(id),
      onChange: () => this.#change(),
      onAnswer: write => this.#answered(write),
      onEnd: write => this.#ended(write),
    })
    feed.views.add(this)
    const kept = parts.keeper?.kept.find(({ path }) => path === source.path)
    if (kept !== undefined) this.#restore(kept)
  }

  /** Sends a new item. It is a row at once; the promise resolves when the server has it. */
  send(draft: Draft): Promise<Shown> {
    return this.#write({ action: 'create', body: draft as Record<string, unknown>, since: this.#items.last ?? 0 })
  }

  async edit(id: number, changes: Partial<Draft>): Promise<void> {
    await this.#write({ action: 'edit', id, body: changes as Record<string, unknown> })
  }

  async trash(id: number): Promise<void> {
    await this.#write({ action: 'trash', id })
  }

  /** Takes it out of the trash. */
  async restore(id: number): Promise<void> {
    await this.#parts.http.request('POST', `${this.#pathOf(id)}/restore`)
  }

  /** Deletes it for good. */
  async delete(id: number): Promise<void> {
    await this.#write({ action: 'delete', id })
  }

  /** Reacts with an emoji, in place of an earlier one; null takes it back. */
  async react(id: number, content: string | null): Promise<void> {
    await this.#write({ action: 'react', id, body: { content } })
  }

  /** Votes for an option of a poll, in place of an earlier vote; a vote for the same option takes it back. */
  async vote(id: number, option: number): Promise<void> {
    const shown = this.get().data.find(row => row.id === id) as Item | undefined
    const has_voted = !(shown && optionsOf(shown).some(one => one.id === option && one.has_voted))
    await this.#write({ action: 'vote', id, body: { option, has_voted } })
  }

  override loadMore = (): Promise<void> => {
    if (!this.#isLoaded || !this.#items.hasMore) return Promise.resolve()
    this.#more ??= this.#loadMore().finally(() => {
      this.#more = undefined
      this.changed()
    })
    this.changed()
    return this.#more
  }

  event(event: RealtimeEvent): void {
    this.#readings.hear(event)
    this.#recognise(event)
    this.#followParent(event)
    this.#apply(event)
    this.#settle()
  }

  snapshot(snapshot: AppSnapshot, rev: number): void {
    this.#begin()
    if (this.#source.parent !== undefined || snapshot.item_type !== this.#source.type) return
    const items = (snapshot.items ?? []).map(item => toItem(item) as Shown)
    this.#takeOver({ items, rev, hasMore: snapshot.has_more === true })
  }

  moved(): void {
    const { rev, isAnswered } = this.#feed
    if (rev !== undefined) this.#items.settle(rev)
    // What was refused meanwhile may be allowed when the app is there again.
    if (this.#feed.state === 'ended') this.#refusal = undefined
    this.#settle()
    if (isAnswered && !this.#isLoaded && !this.#isLoading && this.isSubscribed && this.#refusal === undefined)
      void this.#load()
    this.#change()
  }

  protected start(): () => void {
    this.#refusal = undefined
    const stop = this.#feed.hold()
    this.moved()
    return stop
  }

  protected data(): readonly Row<Shown>[] {
    if (this.#rows !== undefined) return this.#rows
    const rows = this.#projection.rows(this.#items, this.#writes.list(), this.#parts.user())
    const isSame = rows.length === this.#shown.length && rows.every((row, i) => row === this.#shown[i])
    this.#rows = isSame ? this.#shown : rows
    this.#shown = this.#rows
    return this.#rows
  }

  protected condition(): Condition {
    const { state, reason, rev, error } = this.#feed
    const hasMore = this.#isLoaded && this.#items.hasMore
    const more = { hasMore, isLoadingMore: this.#more !== undefined, rev }
    if (this.#refusal !== undefined)
      return { status: 'ended', reason: this.#refusal.code, error: this.#refusal, ...more, hasMore: false }
    if (state === 'ended') return { status: 'ended', reason, error, ...more }
    const trouble = this.#readings.error ?? error ?? this.#parts.trouble()
    if (!this.#isLoaded && this.#items.size === 0) return { status: 'loading', error: trouble, ...more }
    if (this.#isLoaded && state === 'live') return { status: 'live', error: this.#readings.error, ...more }
    return { status: 'stale', reason: reason ?? 'loading', error: trouble, ...more }
  }

  #change(isWrite = false): void {
    this.#rows = undefined
    this.changed()
    this.#parts.keeper?.changed(this.#source.path, isWrite, () => this.#toKept())
  }

  #toKept(): Kept | undefined {
    if (!this.#isLoaded && this.#writes.list().length === 0) return undefined
    const { rev, epoch, ref: app } = this.#feed
    const all = this.#items.list()
    const items = this.#isLoaded ? all.slice(-pageSize) : []
    const hasMore = this.#items.hasMore || all.length > items.length
    const writes = this.#writes.list().map(({ error: _error, ...write }) => write)
    return {
      ...this.#source,
      app,
      rev: this.#isLoaded ? rev : undefined,
      epoch,
      items,
      hasMore,
      writes,
      keptAt: Date.now(),
    }
  }

  /** Goes on from where an earlier life was: the feed asks for what has happened since. */
  #restore({ items, hasMore, rev, epoch, writes }: Kept): void {
    if (rev !== undefined && epoch !== undefined) {
      this.#items.replace({ items: items as Shown[], hasMore, rev })
      this.#feed.rev ??= rev
      this.#feed.epoch ??= epoch
      this.#epoch = epoch
      this.#isLoaded = this.#feed.rev === rev && this.#feed.epoch === epoch
    }
    for (const write of writes) this.#writes.restore(write)
    this.#outbox.drain()
  }

  /** What was known is not to be believed: it is shown until there is something else. */
  #begin(): void {
    this.#readings.restart()
    const isOther = this.#epoch !== undefined && this.#epoch !== this.#feed.epoch
    this.#epoch = this.#feed.epoch
    this.#isLoaded = false
    this.#refusal = undefined
    if (!isOther) return
    // What this history has not got is sent again, under the same key.
    for (const write of this.#writes.list()) if (write.state === 'sent') write.state = 'sending'
    this.#outbox.drain()
  }

  #takeOver(page: { items: Shown[]; rev: number; hasMore: boolean }): void {
    this.#items.replace(page)
    this.#projection.findTwins(page.items, this.#writes.list(), this.#parts.user()?.id)
    this.#isLoaded = true
    this.#readings.error = undefined
  }

  #apply(event: RealtimeEvent): void {
    const change = toChange(this.#source.type, event, this.#parts.user()?.id)
    if (change === undefined || !this.#isHere(event)) return
    let isUnknown = false
    const hasChanged = this.#items.apply(change.id, event.rev, item => {
      const next = change.change(item)
      isUnknown = next === 'unknown'
      return next === 'unknown' ? undefined : (next as Shown | null | undefined)
    })
    if (isUnknown) void this.#readItem(change.id)
    if (hasChanged) this.#change()
  }

  /** A list of comments has those on one parent. Files and comments elsewhere in the app are no part of a list. */
  #isHere(event: RealtimeEvent): boolean {
    const { type, parent } = this.#source
    const written = (event as unknown as Record<string, { parent?: { id: number; type: string } }>)[type]
    if (written === undefined || !event.event.startsWith(`${type}_`)) return true
    return written.parent?.id === parent?.id && written.parent?.type === parent?.type
  }

  /** What is on an item is gone with it, and comes back with it. */
  #followParent(event: RealtimeEvent): void {
    const { parent } = this.#source
    const written = (event as unknown as Record<string, { id: number; is_trashed?: boolean }>)[parent?.type ?? '']
    if (written === undefined || written.id !== parent?.id || !event.event.startsWith(`${parent.type}_`)) return
    const isGone = event.event.endsWith('_deleted') || written.is_trashed === true
    if (isGone === (this.#refusal !== undefined) && !this.#isLoading) return
    this.#readings.restart()
    this.#isLoaded = false
    this.#refusal = undefined
  }

  /** The event of an own write says as much as its answer, which may come before it or after it. */
  #recognise(event: RealtimeEvent): void {
    const write = this.#writes.find(event.key)
    if (write === undefined) return
    const { type } = this.#source
    if (write.action === 'create') {
      if (event.event !== `${type}_created`) return
      write.made = (event as unknown as Record<string, { id: number }>)[type]!.id
      this.#projection.keep(write.made, write.key)
    } else if (write.action === 'vote' && !('option' in event && event.option.id === write.body?.option)) return
    write.state = 'sent'
    write.error = undefined
    write.rev = event.rev
    this.#change()
  }

  #settle(): void {
    const known = this.#feed.rev ?? 0
    const settled = this.#writes.settle(({ id, made }) => {
      if (made !== undefined && this.#items.get(made) !== undefined) return Infinity
      return this.#isLoaded ? Math.max(known, this.#items.revOf((id ?? made)!)) : 0
    })
    for (const { made, key } of settled) if (made !== undefined) this.#projection.keep(made, key)
    if (settled.length > 0) this.#change(true)
  }

  #write(wanted: Omit<WriteRequest, 'key' | 'at'>): Promise<Shown> {
    const write = this.#writes.add({ ...wanted, key: newKey(), at: new Date().toISOString() })
    const sent = this.#outbox.promiseOf(write)
    this.#change(true)
    this.#outbox.drain()
    return sent as Promise<Shown>
  }

  #retry(write: Write): void {
    if (write.state !== 'failed') return
    write.state = 'sending'
    write.error = undefined
    this.#change()
    this.#outbox.drain()
  }

  #discard(write: Write): void {
    this.#writes.drop(write)
    this.#outbox.abort(write)
    this.#change(true)
  }

  /** Where nothing is shown, nothing waits for the event of an answered write. */
  #answered(write: Write): void {
    if (!this.#isLoaded && !this.isSubscribed) this.#writes.drop(write)
    else setTimeout(() => this.#verify(write), eventMs)
  }

  #ended(write: Write): void {
    // The row that would show why it failed is gone.
    if (write.state === 'failed' && write.id !== undefined && this.#items.get(write.id) === undefined)
      this.#writes.drop(write)
    this.#settle()
    this.#change(true)
  }

  #toRequest({ action, id, body = {} }: Write): Sendable {
    const path = id === undefined ? this.#source.path : this.#pathOf(id)
    switch (action) {
      case 'create':
        return { method: 'POST', path, body }
      case 'edit':
        return { method: 'PATCH', path, body }
      case 'delete':
        return { method: 'DELETE', path }
      case 'trash':
        return { method: 'POST', path: `${path}/trash` }
      case 'react':
        if (body.content === null) return { method: 'DELETE', path: `${path}/reactions` }
        return { method: 'POST', path: `${path}/reactions`, body }
      case 'vote':
        return { method: 'POST', path: `/api/options/${body.option as number}/vote` }
    }
  }

  #pathOf(id: number): string {
    return `/api/${this.#source.type}s/${id}`
  }

  /** Some writes change nothing, and have no event. */
  #verify(write: Write): void {
    if (this.#writes.has(write) && write.state === 'sent' && this.#feed.isAnswered)
      void this.#readItem((write.id ?? write.made)!)
  }

  async #readItem(id: number): Promise<void> {
    try {
      await this.#readings.read<object>(this.#pathOf(id), {}, ({ body }, rev) => {
        this.#items.apply(id, rev, before => toItem(body, before) as Shown)
      })
    } catch (error) {
      if (toParleyError(error).status === 404) this.#items.apply(id, this.#feed.rev ?? 0, () => null)
    }
    this.#settle()
    this.#change()
  }

  async #load(): Promise<void> {
    this.#isLoading = true
    try {
      await this.#readList({ take: pageSize }, page => this.#takeOver(page))
    } catch (error) {
      this.#refusal = toParleyError(error)
    }
    this.#isLoading = false
    this.moved()
  }

  /** Pages are counted from the newest item, and each begins within what is known, so that none is missed in between. */
  async #loadMore(): Promise<void> {
    for (let overlap = 1; !(await this.#readOlder(overlap)); overlap = Math.min(overlap * 7, pageSize));
    this.#change()
  }

  async #readOlder(overlap: number): Promise<boolean> {
    const skip = Math.max(0, this.#items.size - overlap)
    let fits = false
    await this.#readList({ skip, take: pageSize + overlap }, page => {
      const newest = page.items[0]?.id ?? 0
      fits = skip === 0 || newest >= (this.#items.first ?? 0)
      if (fits) this.#items.extend(page)
    })
    return fits
  }

  #readList(query: Query, take: (page: { items: Shown[]; rev: number; hasMore: boolean }) => void): Promise<void> {
    const { path } = this.#source
    return this.#readings.read<ListBody>(path, { order_by: 'id desc', out: 'details', ...query }, ({ body }, rev) => {
      const { data = [], end = 0, count } = body
      take({ items: data.map(item => toItem(item) as Shown), rev, hasMore: end < count })
    })
  }
}
