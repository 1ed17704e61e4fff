import type { Parley, Readable, Snapshot } from '@parley/client'
import { nothing } from './live.ts'

export type Change<Data> = Partial<Omit<Snapshot<Data>, 'loadMore' | 'rev'>>

/** A live value that is read by the hooks themselves. `start` keeps it up to date until what it returns is called. */
export function createStore<Data>(
  data: Data,
  start: (set: (change: Change<Data>) => void) => () => void,
): Readable<Snapshot<Data>> {
  let snapshot = nothing(data)
  let stop: (() => void) | undefined
  const listeners = new Set<(snapshot: Snapshot<Data>) => void>()
  const set = (change: Change<Data>) => {
    snapshot = { ...snapshot, ...change }
    for (const listener of Array.from(listeners)) listener(snapshot)
  }
  return {
    get: () => snapshot,
    subscribe: listener => {
      const entry = () => listener(snapshot)
      listeners.add(entry)
      stop ??= start(set)
      return () => {
        listeners.delete(entry)
        if (listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

const stores = new WeakMap<Parley, Map<string, unknown>>()

/** The store of this name of a client: the same one each time. */
export function storeOf<Store>(parley: Parley, name: string, make: () => Store): Store {
  const known = stores.get(parley) ?? new Map<string, unknown>()
  stores.set(parley, known)
  if (!known.has(name)) known.set(name, make())
  return known.get(name) as Store
}
