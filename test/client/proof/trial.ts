import { setTimeout as delay } from 'node:timers/promises'
import type { App, Parley } from '../../../src/client/index.ts'
import { createParley } from '../../../src/client/index.ts'
import {
  createFaultProxy,
  findDifferences,
  findPersonalDifferences,
  watchRows,
} from '../../../src/client/testing/index.ts'
import { Random } from '../../faults/random.ts'

export interface World {
  /** The server of each new connection. */
  url: () => string
  admin: Parley
}

/** What becomes of one run; no words where nothing is wrong. */
export interface Outcome {
  seed: number
  faults: string[]
}

interface Person {
  id: number
  parley: Parley
}

const texts = ['one', 'two', 'three']
const emojis = ['👍', '❤️', '🎉']

/**
 * A room with a client behind a network that fails, another client of the same user, and two writers over HTTP. Once all
 * is quiet, each client has to show what the server says; at every step, what it shows has to make sense.
 */
export async function runTrial({ url, admin }: World, seed: number): Promise<Outcome> {
  const random = new Random(seed)
  const proxy = await createFaultProxy(url)
  const people = await Promise.all(['ann', 'ben', 'eve'].map(name => join(admin, url, `${name}-${seed}-${Date.now()}`)))
  const [ann, ben, eve] = people as [Person, Person, Person]
  const room = await admin.http.post('/api/apps', { body: { type: 'chat_room', members: people.map(({ id }) => id) } })
  const tokens = { given: 0 }
  const source = async () => {
    tokens.given++
    return tokenOf(admin, ann.id)
  }
  const phone = createParley({ url: proxy.url, token: source })
  const laptop = createParley({ url: url(), token: () => tokenOf(admin, ann.id) })
  const clients = [phone, laptop].map(parley => ({ parley, app: parley.app(room.id) }))
  const watched = clients.map(({ parley, app }) => {
    const { faults, stop } = watchRows(app.messages)
    const stops = [stop, app.members.subscribe(() => {}), parley.unread.subscribe(() => {})]
    return { faults, stop: () => stops.forEach(end => end()) }
  })
  const writing: Promise<unknown>[] = []
  const faults: string[] = []
  try {
    for (let step = random.integer(10, 30); step > 0; step--) {
      const kind = random.next()
      const { app } = clients[random.next() < 0.75 ? 0 : 1]!
      if (kind < 0.55) writing.push(write(app, random))
      else if (kind < 0.75) writing.push(writeElsewhere(random.pick([ben, eve]), room.id, random))
      else if (kind < 0.85) proxy.cut()
      else if (kind < 0.9) await whileBroken(() => proxy.silence(), proxy.restore, random.integer(10, 200))
      else if (kind < 0.95) await whileBroken(() => proxy.lose(), proxy.restore, random.integer(10, 400))
      else await admin.http.delete('/api/users/{user}/tokens', { path: { user: ann.id } }).catch(() => {})
      await delay(random.integer(0, 25))
    }
    proxy.restore()
    await Promise.all(writing)
    for (const { app, parley } of clients) faults.push(...(await findLasting(() => findDifferences(app, parley.http))))
    for (const { parley } of clients) faults.push(...(await findLasting(() => findPersonalDifferences(parley))))
  } finally {
    for (const { stop } of watched) stop()
    for (const { parley } of [...clients, ...people]) parley.close()
    await proxy.close()
  }
  faults.push(...watched.flatMap(({ faults }) => faults))
  return { seed, faults }
}

async function join(admin: Parley, url: () => string, uid: string): Promise<Person> {
  const { id } = await admin.http.post('/api/users', { body: { uid, name: uid } })
  return { id, parley: createParley({ url: url(), token: await tokenOf(admin, id) }) }
}

async function tokenOf(admin: Parley, user: number): Promise<string> {
  return (await admin.http.post('/api/users/{user}/tokens', { path: { user } })).access_token
}

/** A write through a client, on something that it shows. */
async function write({ messages }: App, random: Random): Promise<void> {
  const row = random.pick([undefined, ...messages.get().data])
  const id = random.next() < 0.5 ? undefined : row?.id
  try {
    if (id === undefined) {
      const poll = random.isLikely(0.2) ? { options: [{ text: 'a' }, { text: 'b' }] } : {}
      return void (await messages.send({ text: random.pick(texts), ...poll }))
    }
    const options = row?.options?.data ?? []
    if (options.length > 0 && random.isLikely(0.5)) return await messages.vote(id, random.pick(options).id)
    const kind = random.next()
    if (kind < 0.4) await messages.edit(id, { text: `${random.pick(texts)} again` })
    else if (kind < 0.8) await messages.react(id, random.pick([...emojis, null]))
    else if (kind < 0.9) await messages.trash(id)
    else await messages.delete(id)
  } catch {
    // Of others' messages, much is refused; what was refused has to be nowhere.
    const failed = messages.get().data.filter(({ state }) => state === 'failed')
    for (const { discard } of failed) discard?.()
  }
}

/** A write that the clients only hear of. */
async function writeElsewhere({ parley: { http } }: Person, app: number, random: Random): Promise<void> {
  try {
    const { data = [] } = await http.get('/api/apps/{app}/messages', { path: { app }, query: { order_by: 'id desc' } })
    const path = { id: random.pick([{ id: 0 }, ...data]).id }
    const kind = random.next()
    if (kind < 0.4 || path.id === 0)
      await http.post('/api/apps/{app}/messages', { path: { app }, body: { text: random.pick(texts) } })
    else if (kind < 0.6)
      await http.post('/api/messages/{id}/reactions', { path, body: { content: random.pick(emojis) } })
    else if (kind < 0.7) await http.patch('/api/messages/{id}', { path, body: { text: random.pick(texts) } })
    else if (kind < 0.8) await http.put('/api/apps/{app}/mark', { path: { app } })
    else if (kind < 0.9) {
      await http.post('/api/messages/{id}/trash', { path })
      if (random.isLikely(0.5)) await http.post('/api/messages/{id}/restore', { path })
    } else await http.delete('/api/messages/{id}', { path })
  } catch {
    // The same.
  }
}

async function whileBroken(begin: () => void, end: () => void, ms: number): Promise<void> {
  begin()
  await delay(ms)
  end()
}

/** Differences that do not go away. */
async function findLasting(find: () => Promise<string[]>): Promise<string[]> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const differences = await find().catch((error: Error) => [error.message])
    if (differences.length === 0 || performance.now() > deadline) return differences
    await delay(50)
  }
}
