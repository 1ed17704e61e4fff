import type { Keeper, Kept } from '../store/kept.ts'
import type { Parley } from '../parley.ts'
import { openDatabase, Table } from './database.ts'

export interface PersistOptions {
  /** Whose data it is: that of another user is never shown. */
  user: string
}

/** What a person has begun to write, by any name, such as that of the app. */
export interface Drafts {
  get(name: string): Promise<string>
  set(name: string, text: string): Promise<void>
}

/** So many lists are kept, those that were changed last. */
const listLimit = 50

/** Changes of what the log says are gathered for this long; own writes are kept at once. */
const gatherMs = 500

/**
 * Keeps the newest items of the last 50 lists, own writes that are not settled, and drafts in IndexedDB. What was kept is
 * shown as `stale` until the server has answered; what was not sent is sent. To be called before anything is subscribed to:
 *
 *     const parley = createParley({ url, token })
 *     const { drafts } = await persist(parley, { user: 'ann' })
 */
export async function persist(parley: Parley, { user }: PersistOptions): Promise<{ drafts: Drafts }> {
  const database = await openDatabase(`parley ${user}`, ['lists', 'drafts'])
  const lists = new Table<Kept>(database, 'lists')
  const texts = new Table<string>(database, 'drafts')
  const kept = (await lists.all()).toSorted((a, b) => b.keptAt - a.keptAt)
  for (const { path } of kept.slice(listLimit)) await lists.delete(path)
  parley.keep(new Keeping(lists, kept.slice(0, listLimit), error => parley.warn(error)))
  return {
    drafts: {
      get: async name => (await texts.get(name)) ?? '',
      set: (name, text) => (text === '' ? texts.delete(name) : texts.put(name, text)),
    },
  }
}

class Keeping implements Keeper {
  readonly kept: readonly Kept[]
  readonly #lists: Table<Kept>
  readonly #onError: (error: unknown) => void
  readonly #waiting = new Map<string, () => Kept | undefined>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(lists: Table<Kept>, kept: readonly Kept[], onError: (error: unknown) => void) {
    this.#lists = lists
    this.kept = kept
    this.#onError = onError
  }

  changed(path: string, isUrgent: boolean, state: () => Kept | undefined): void {
    this.#waiting.set(path, state)
    if (isUrgent) void this.#write()
    else this.#timer ??= setTimeout(() => void this.#write(), gatherMs)
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = Array.from(this.#waiting)
    this.#waiting.clear()
    try {
      await Promise.all(
        waiting.map(([path, state]) => {
          const kept = state()
          return kept === undefined ? undefined : this.#lists.put(path, kept)
        }),
      )
    } catch (error) {
      this.#onError(error)
    }
  }
}
