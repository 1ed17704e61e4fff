import { createParley, type App, type Collection, type Parley } from '../../../src/client/index.ts'
import { createFaultProxy, type Compared, type FaultProxy } from '../../../src/client/testing/index.ts'
import type { Random } from '../../faults/random.ts'
import { Witness } from './witness.ts'

export interface World {
  /** The server of each new connection. */
  url: () => string
  admin: Parley
  /** An agent that answers at once. */
  agent: number
}

export interface Person {
  id: number
  parley: Parley
}

/** An app of the run, and what of it is watched. */
export interface Place {
  id: number
  kind: 'chat_room' | 'posts' | 'comments' | 'files' | 'agent_chat'
  /** The post that comments are on, in a feed. */
  post?: number
}

/** One of the two clients of the same user. */
export interface Device {
  parley: Parley
  witness: Witness
}

/** Rooms of their own for a run, a phone behind a network that fails, a laptop of the same user, and two other people. */
export interface Scene extends AsyncDisposable {
  ann: number
  others: Person[]
  places: Place[]
  phone: Device
  laptop: Device
  network: FaultProxy
}

const kinds = ['posts', 'comments', 'files', 'agent_chat'] as const

export async function makeScene({ url, admin, agent }: World, random: Random): Promise<Scene> {
  const suffix = `${random.integer(0, 1e9)}-${Date.now()}`
  // Of all who are there, they see each other alone.
  const { id: directory } = await admin.http.post('/api/directories', { body: { name: suffix } })
  const users = await Promise.all(
    ['ann', 'ben', 'eve'].map(name =>
      admin.http.post('/api/users', { body: { uid: `${name}-${suffix}`, name, directories: [directory] } }),
    ),
  )
  const [ann, ben, eve] = users.map(({ id }) => id) as [number, number, number]
  const others = [ben, eve].map(id => ({ id, parley: createParley({ url: url(), token: () => tokenOf(admin, id) }) }))
  const kind = random.pick(kinds)
  const members = kind === 'agent_chat' ? [ann, agent] : [ann, ben, eve]
  const [room, other] = await Promise.all([
    admin.http.post('/api/apps', { body: { type: 'chat_room', name: 'Room', members: [ann, ben, eve] } }),
    admin.http.post('/api/apps', { body: { type: kind, members } }),
  ])
  const network = await createFaultProxy(url)
  const [phone, laptop] = [toDevice(network.url), toDevice(url())]
  const places: Place[] = [
    { id: room.id, kind: 'chat_room' },
    { id: other.id, kind },
  ]
  if (kind === 'posts')
    places[1]!.post = (
      await others[0]!.parley.http.post('/api/apps/{app}/posts', { path: { app: other.id }, body: { text: 'post' } })
    ).id
  for (const device of [phone, laptop]) watch(device, places)
  return {
    ann,
    others,
    places,
    phone,
    laptop,
    network,
    async [Symbol.asyncDispose]() {
      for (const { witness } of [phone, laptop]) witness.stop()
      for (const { parley } of [phone, laptop, ...others]) parley.close()
      await network.close()
    },
  }

  function toDevice(address: string): Device {
    const witness = new Witness()
    return {
      witness,
      parley: createParley({ url: address, token: () => tokenOf(admin, ann), fetch: witness.fetch }),
    }
  }
}

export async function tokenOf(admin: Parley, user: number): Promise<string> {
  return (await admin.http.post('/api/users/{user}/tokens', { path: { user } })).access_token
}

/** The lists of an app that have rows. */
export function itemsOf(app: App, { kind, post }: Place) {
  if (kind === 'posts') return [app.posts, app.comments({ type: 'post', id: post! })]
  if (kind === 'comments') return [app.comments()]
  return [kind === 'files' ? app.files : app.messages]
}

/** What is compared with HTTP. */
export function comparedOf({ kind, post }: Place): Compared {
  const compared: Compared = { members: true, typing: true, work: true }
  if (kind === 'posts') return { ...compared, posts: true, comments: { type: 'post', id: post! } }
  if (kind === 'comments') return { ...compared, comments: true }
  return kind === 'files' ? { ...compared, files: true } : { ...compared, messages: true, unread: true }
}

function watch({ parley, witness }: Device, places: readonly Place[]): void {
  for (const place of places) {
    const app = parley.app(place.id)
    witness.follow(app)
    for (const items of itemsOf(app, place)) witness.watch(app, items)
    const { members, typing, work, unread } = app
    const more: Collection<unknown>[] = [members, typing, work]
    if (comparedOf(place).unread) more.push(unread)
    for (const collection of more) witness.keep(collection)
  }
  for (const collection of [parley.apps, parley.unread, parley.notifications, parley.presence] as Collection<unknown>[])
    witness.keep(collection)
}
