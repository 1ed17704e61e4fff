import type { Readable, Snapshot } from '../store/collection.ts'

interface AnyRow {
  id: number | undefined
  key: string
  state: string
}

/**
 * Looks at each snapshot of a collection of items: what must never be seen, whatever happens to the connection. Returns
 * what was seen all the same, and what ends it.
 */
export function watchRows<Row extends AnyRow>(
  collection: Readable<Snapshot<readonly Row[]>>,
): { faults: string[]; stop: () => void } {
  const faults: string[] = []
  let shown: string[] = []
  const gone = new Set<string>()
  const stop = collection.subscribe(({ data }) => {
    const keys = data.map(({ key }) => key)
    const ids = data.flatMap(({ id }) => id ?? [])
    if (new Set(keys).size < keys.length) faults.push(`a key twice: ${keys.join()}`)
    if (new Set(ids).size < ids.length) faults.push(`an id twice: ${ids.join()}`)
    if (ids.some((id, i) => i > 0 && id < ids[i - 1]!)) faults.push(`not in the order of ids: ${ids.join()}`)
    if (data.some(({ id, state }) => id === undefined && state === 'settled')) faults.push('settled without an id')
    // What was deleted meanwhile is gone for good.
    for (const key of shown) if (!keys.includes(key)) gone.add(key)
    const back = keys.filter(key => gone.has(key))
    if (back.length > 0) faults.push(`rows that were gone are back: ${back.join()}`)
    shown = data.filter(({ id }) => id === undefined).map(({ key }) => key)
  })
  return { faults, stop }
}
