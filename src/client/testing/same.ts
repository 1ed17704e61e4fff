import type { App } from '../app.ts'
import type { Api } from '../http/api.ts'
import type { Parley } from '../parley.ts'

/** Members in which events and answers may differ: what belongs to the user, and names as they were. */
const elsewhere = new Set([
  'app',
  'is_starred',
  'is_subscribed',
  'permissions',
  'key',
  'state',
  'error',
  'retry',
  'discard',
])

/**
 * Compares what a client shows of an app with what the server says over HTTP, once all is quiet. Returns the differences,
 * in words; none where they are the same.
 */
export async function findDifferences(app: App, http: Api): Promise<string[]> {
  const path = { app: app.ref }
  const differences: string[] = []
  const { data, hasMore, status } = app.messages.get()
  if (status !== 'live') differences.push(`messages are ${status}`)
  const wanted: object[] = []
  for await (const item of http.list('/api/apps/{app}/messages', {
    path,
    query: { order_by: 'id desc', out: 'details', take: 100 },
  })) {
    if (hasMore && wanted.length >= data.length) break
    wanted.unshift(item)
  }
  compare('message', data, wanted, differences)
  const members: object[] = []
  for await (const member of http.list('/api/apps/{app}/members', { path, query: { order_by: 'id' } }))
    members.push(member)
  compare(
    'member',
    app.members.get().data.toSorted((a, b) => a.id - b.id),
    members,
    differences,
  )
  return differences
}

/** The same of what belongs to the user. */
export async function findPersonalDifferences(parley: Parley): Promise<string[]> {
  const unread: number[] = []
  for await (const { id } of parley.http.list('/api/apps', { query: { unread: true } })) unread.push(id)
  const shown = parley.unread.get().data.apps.toSorted((a, b) => a - b)
  return String(shown) === String(unread) ? [] : [`unread apps: ${shown.join()} instead of ${unread.join()}`]
}

/** Throws where a client shows something else than the server says. */
export async function expectSame(app: App, http: Api): Promise<void> {
  const differences = await findDifferences(app, http)
  if (differences.length > 0) throw new Error(differences.join('\n'))
}

function compare(noun: string, shown: readonly object[], wanted: readonly object[], differences: string[]): void {
  if (shown.length !== wanted.length)
    differences.push(
      `${shown.length} ${noun}s instead of ${wanted.length}: ${idsOf(shown)} instead of ${idsOf(wanted)}`,
    )
  for (let i = 0; i < Math.min(shown.length, wanted.length); i++) {
    const [one, other] = [JSON.stringify(normal(shown[i])), JSON.stringify(normal(wanted[i]))]
    if (one !== other) differences.push(`${noun} ${one} instead of ${other}`)
  }
}

const idsOf = (rows: readonly object[]) => rows.map(row => (row as { id?: number }).id).join()

/** Without members that are elsewhere, empty lists and pages, in one order. */
function normal(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(normal).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  if ('created_by' in value && 'content' in value) return { content: value.content, by: idOf(value.created_by) }
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (elsewhere.has(name) || member === undefined || name === 'presence' || name === 'start' || name === 'end')
      return []
    if (name === 'created_by' || name === 'updated_by') return [[name, idOf(member)] as const]
    if ((member as { count?: number } | null)?.count === 0 && name !== 'votes') return []
    return [[name, normal(member)] as const]
  })
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const idOf = (user: unknown) => (user as { id?: number } | undefined)?.id
