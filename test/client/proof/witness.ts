import type { App, Collection, RealtimeEvent } from '../../../src/client/index.ts'

interface AnyRow {
  readonly id: number | undefined
  readonly key: string
  readonly state: string
}

interface Written {
  id?: number
  text?: string
  is_trashed?: boolean
}

/** A text as it was shown, and the history that it was in. */
interface Shown {
  text: string
  epoch: string | undefined
}

const nouns = ['message', 'post', 'comment', 'file'] as const

/** Texts that are written only once have this in them. */
export const once = '#'

/**
 * Sees everything that a client is told and everything that it shows, and says what does not fit: a key or id twice, an
 * order that is not that of ids, a row that counts as settled though nothing was heard of it, one that goes back to what it
 * was before, or an own write that is gone before its end is known.
 */
export class Witness {
  readonly faults: string[] = []
  /** Items that events, snapshots and readings have told of. */
  readonly #told = new Set<number>()
  /** The rev of each text: those of edits are there once. */
  readonly #revs = new Map<string, number>()
  /** Texts of rows as they were shown, by id, in the order in which they were. */
  readonly #shown = new Map<number, Shown[]>()
  /** The item that each key has made, in each epoch. */
  readonly #made = new Map<string, number>()
  /** Own writes that have no end yet, by key. */
  readonly #open = new Set<string>()
  readonly #stops: (() => void)[] = []

  /** Notes what readings tell. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || init?.method !== 'GET') return response
    const text = await response.text()
    const body = JSON.parse(text) as { data?: Written[] } & Written
    for (const item of body.data ?? [body]) if (item.id !== undefined) this.#told.add(item.id)
    const { status, headers } = response
    return new Response(text, { status, headers })
  }

  follow(app: App): void {
    const stop = app.follow({
      event: event => this.#hear(event, app.place?.epoch),
      snapshot: ({ items = [] }) => items.forEach(({ id }) => this.#told.add(id)),
    })
    this.#stops.push(stop)
  }

  keep(collection: Collection<unknown>): void {
    this.#stops.push(collection.subscribe(() => {}))
  }

  watch(app: App, collection: Collection<readonly AnyRow[]>): void {
    let before: readonly AnyRow[] = []
    const stop = collection.subscribe(({ data }) => {
      if (data !== before) this.#look(before, data, app.place?.epoch)
      before = data
    })
    this.#stops.push(stop)
  }

  /** Follows a write until its end. */
  async send<Sent>(items: Collection<readonly AnyRow[]>, write: () => Promise<Sent>): Promise<Sent> {
    const known = new Set(items.get().data.map(({ key }) => key))
    const sending = write()
    const key = items.get().data.find(row => !known.has(row.key))?.key
    if (key !== undefined) this.#open.add(key)
    try {
      return await sending
    } finally {
      if (key !== undefined) this.#open.delete(key)
    }
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }

  /** What was wrong, by everything that was heard on one of the devices. */
  judge(others: readonly Witness[]): string[] {
    const revs = new Map([...others, this].flatMap(witness => [...witness.#revs]))
    const backwards = [...this.#shown].flatMap(([id, shown]) => {
      const known = shown.flatMap(one => {
        const rev = revs.get(one.text)
        return rev === undefined ? [] : { ...one, rev }
      })
      return known.flatMap((one, i) => {
        const last = known[i - 1]
        const isBack = last !== undefined && last.epoch === one.epoch && last.rev > one.rev
        return isBack ? `${id} went from ${last.text} back to ${one.text}` : []
      })
    })
    return [...this.faults, ...backwards]
  }

  #hear(event: RealtimeEvent, epoch: string | undefined): void {
    for (const noun of nouns) {
      const item = (event as unknown as Record<string, Written | undefined>)[noun]
      if (item?.id === undefined) continue
      this.#told.add(item.id)
      if (item.text?.includes(once)) this.#revs.set(item.text, event.rev)
      if (event.event !== `${noun}_created` || event.key === undefined) continue
      const key = `${epoch} ${event.key}`
      const made = this.#made.get(key) ?? item.id
      if (made !== item.id) this.faults.push(`${event.key} has made ${made} and ${item.id}`)
      this.#made.set(key, item.id)
    }
  }

  #look(before: readonly AnyRow[], rows: readonly AnyRow[], epoch: string | undefined): void {
    const keys = new Set(rows.map(({ key }) => key))
    const ids = rows.flatMap(({ id }) => id ?? [])
    if (keys.size < rows.length) this.faults.push(`a key twice: ${rows.map(({ key }) => key).join()}`)
    if (new Set(ids).size < ids.length) this.faults.push(`an id twice: ${ids.join()}`)
    if (ids.some((id, i) => i > 0 && id < ids[i - 1]!)) this.faults.push(`not in the order of ids: ${ids.join()}`)
    const known = new Set(before)
    for (const row of rows) if (!known.has(row) && row.state === 'settled') this.#lookAt(row, epoch)
    for (const { key } of before) if (!keys.has(key) && this.#open.has(key)) this.#lookAgain(key)
  }

  #lookAt(row: AnyRow, epoch: string | undefined): void {
    const { id, key } = row
    if (id === undefined || !this.#told.has(id)) {
      this.faults.push(`the row ${key} of ${id} is settled, and was not told of`)
      return
    }
    const { text } = row as { text?: string }
    if (!text?.includes(once)) return
    const shown = this.#shown.get(id) ?? []
    this.#shown.set(id, [...shown, { text, epoch }])
  }

  /** What waits for the end of a write hears of it in the same turn. */
  #lookAgain(key: string): void {
    setImmediate(() => {
      if (this.#open.has(key)) this.faults.push(`the row ${key} is gone, and its write has no end`)
    })
  }
}
