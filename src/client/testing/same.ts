import type { App } from '../app.ts'
import type { Api } from '../http/api.ts'
import type { ParleyError } from '../http/error.ts'
import type { Parley } from '../parley.ts'
import type { Snapshot } from '../store/collection.ts'

/** Collections of an app that are compared: those that are subscribed to. */
export interface Compared {
  messages?: boolean
  posts?: boolean
  files?: boolean
  members?: boolean
  typing?: boolean
  work?: boolean
  unread?: boolean
  /** On what, or `true` for those of an app of comments. */
  comments?: { type: 'post' | 'file'; id: number } | true
}

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
  'presence',
  'start',
  'end',
])

/**
 * Compares what a client shows of an app with what the server says over HTTP, once all is quiet. Returns the differences,
 * in words; none where they are the same.
 */
export async function findDifferences(
  app: App,
  http: Api,
  compared: Compared = { messages: true, members: true },
): Promise<string[]> {
  const path = { app: app.ref }
  const order = { order_by: 'id desc', out: 'details' } as const
  const differences = new Differences()
  for (const noun of ['messages', 'posts', 'files'] as const)
    if (compared[noun] === true)
      await differences.items(noun, app[noun].get(), http.list(`/api/apps/{app}/${noun}`, { path, query: order }))
  const { comments } = compared
  if (comments === true)
    await differences.items(
      'comments',
      app.comments().get(),
      http.list('/api/apps/{app}/comments', { path, query: order }),
    )
  else if (comments !== undefined)
    await differences.items(
      'comments',
      app.comments(comments).get(),
      http.list(`/api/${comments.type}s/{id}/comments`, { path: { id: comments.id }, query: order }),
    )
  if (compared.members === true) {
    const shown = differences.live('members', app.members.get())
    const members = await all(http.list('/api/apps/{app}/members', { path, query: { order_by: 'id' } }))
    const byId = shown.toSorted((a, b) => a.id - b.id)
    differences.rows('members', byId, members)
  }
  if (compared.typing === true) differences.rows('typing', differences.live('typing', app.typing.get()), [])
  if (compared.work === true) {
    const { data: runs = [] } = await http.get('/api/apps/{app}/runs', { path })
    const atWork = runs.filter(({ state }) => ['queued', 'running', 'waiting'].includes(state))
    const shown = differences.live('work', app.work.get()).map(({ run }) => run.id)
    differences.values('work', shown, atWork.map(({ id }) => Number(id)).toSorted())
  }
  if (compared.unread === true) {
    const [told, me] = [await http.get('/api/apps/{app}', { path }), await http.get('/api/user')]
    const members = await all(http.list('/api/apps/{app}/members', { path, query: { order_by: 'id' } }))
    const { is_unread, last_message } = told as { is_unread: boolean; last_message?: { id: number } }
    const marked_id = members.find(({ id }) => id === me.id)?.marked_id
    differences.values('unread', differences.live('unread', app.unread.get()), {
      is_unread,
      last_id: last_message?.id,
      marked_id,
    })
  }
  return differences.found
}

/** The same of what belongs to the user: apps, what is unread, notifications, and who is there. */
export async function findPersonalDifferences(parley: Parley, http: Api = parley.http): Promise<string[]> {
  const differences = new Differences()
  const query = { order_by: 'rev desc', out: 'details' } as const
  const apps = parley.apps.get()
  const listed = await all(http.list('/api/apps', { query }), apps)
  differences.rows('apps', differences.live('apps', apps).map(withoutMarks), listed.map(withoutMarks))
  const unread = await all(http.list('/api/apps', { query: { unread: true } }))
  const shown = differences.live('unread', parley.unread.get()).apps
  differences.values('unread apps', shown.toSorted(), unread.map(({ id }) => id).toSorted())
  const notifications = parley.notifications.get()
  const told = await all(http.list('/api/notifications', { query: { order_by: 'id desc' } }), notifications)
  differences.rows('notifications', differences.live('notifications', notifications).map(asTold), told.map(asTold))
  // Users are summaries without presence, and all of them are looked at.
  const users = await all(http.list('/api/users', { query: { out: 'details' } }))
  const active = users.flatMap(user => ((user as { presence?: string }).presence === 'active' ? user.id : []))
  const present = Array.from(differences.live('presence', parley.presence.get()))
  differences.values('presence', present.toSorted(), active.toSorted())
  return differences.found
}

/** Throws where a client shows something else than the server says. */
export async function expectSame(app: App, http: Api, compared?: Compared): Promise<void> {
  const differences = await findDifferences(app, http, compared)
  if (differences.length > 0) throw new Error(differences.join('\n'))
}

class Differences {
  readonly found: string[] = []

  /** The data of a collection, which has to be live. */
  live<Data>(noun: string, { data, status, reason, error }: Snapshot<Data>): Data {
    if (status !== 'live') this.found.push(`${noun} are ${status}: ${reason} ${error?.message ?? ''}`)
    return data
  }

  /** Items are shown oldest first, and may be the newest ones alone. */
  async items(
    noun: string,
    shown: Snapshot<readonly { id: number | undefined }[]>,
    list: AsyncIterable<object>,
  ): Promise<void> {
    try {
      const items = (await all(list, shown)).toReversed()
      this.rows(noun, this.live(noun, shown), items)
    } catch (error) {
      // What the items are on is gone.
      if (shown.status !== 'ended' || (error as ParleyError).status !== 404) throw error
    }
  }

  rows(noun: string, shown: readonly object[], wanted: readonly object[]): void {
    if (shown.length !== wanted.length)
      this.found.push(
        `${shown.length} ${noun} instead of ${wanted.length}: ${idsOf(shown)} instead of ${idsOf(wanted)}`,
      )
    for (let i = 0; i < Math.min(shown.length, wanted.length); i++) this.values(noun, shown[i], wanted[i])
  }

  values(noun: string, shown: unknown, wanted: unknown): void {
    const [one, other] = [JSON.stringify(normal(shown)), JSON.stringify(normal(wanted))]
    if (one !== other) this.found.push(`${noun}: ${one} instead of ${other}`)
  }
}

/** All of a list; where a collection has more than it shows, as many as it shows. */
async function all<Item>(
  list: AsyncIterable<Item>,
  shown?: { data: readonly unknown[]; hasMore: boolean },
): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) {
    if (shown?.hasMore && items.length >= shown.data.length) break
    items.push(item)
  }
  return items
}

/** Lists of apps do not follow what each member has read. */
function withoutMarks(app: object): object {
  const { members } = app as { members?: { data?: { id: number }[]; count: number } }
  return { ...app, ...(members && { members: members.data?.map(({ id }) => id) }) }
}

/** One of several messages says how many there are as of when it was told; a message more is not told. */
function asTold(notification: object): object {
  const { action, id, is_unread } = notification as Record<string, unknown>
  return action === 'message_created' ? { action, id, is_unread } : notification
}

const idsOf = (rows: readonly object[]) => rows.map(row => (row as { id?: number }).id).join()

/** Links begin with the address under which each client finds the server. */
const origin = /^https?:\/\/[^/]+(?=\/content\/)/

/** Without members that are elsewhere, empty lists and pages, in one order. */
function normal(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(origin, '')
  if (Array.isArray(value))
    return value.map(normal).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  if ('created_by' in value && 'content' in value) return { content: value.content, by: idOf(value.created_by) }
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (elsewhere.has(name) || member === undefined) return []
    if (name === 'created_by' || name === 'updated_by') return [[name, idOf(member)] as const]
    if ((member as { count?: number } | null)?.count === 0 && name !== 'votes') return []
    return [[name, normal(member)] as const]
  })
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const idOf = (user: unknown) => (user as { id?: number } | undefined)?.id
