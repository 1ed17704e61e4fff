import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { client } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { joinHub, type HubClient } from '../support/hub.ts'
import { listen, type Heard, type Listener } from '../support/realtime.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

/** Nodes on one database, with Redis or without, and one more that has seen nothing: it reads the log alone. */
async function startNodes({ hasRedis }: { hasRedis: boolean }) {
  const parts: AsyncDisposable[] = []
  const use = <Part extends AsyncDisposable>(part: Part): Part => {
    parts.unshift(part)
    return part
  }
  const { url } = use(await createDatabase())
  const settings = { DATABASE_URL: url, ...(hasRedis && { REDIS_URL: use(await startRedis()).url }) }
  const start = async () => use(await startServer(settings))
  return {
    nodes: [await start(), await start(), await start()] as const,
    startLate: start,
    async [Symbol.asyncDispose]() {
      for (const part of parts) await part[Symbol.asyncDispose]()
    },
  }
}

/** What a client that adds up events knows of one item. */
interface Counted {
  comments: number
  reactions: Map<string, string>
  votes: Map<string, number>
}

/**
 * Adds up the events of an item in their order, and compares each count that an event shows with the sum of the events
 * up to it. Returns the counts after the last.
 */
function addUp(events: readonly Heard[], of: { id: string }): Counted & { votesShown: number[] } {
  const sum: Counted = { comments: 0, reactions: new Map(), votes: new Map() }
  const votesShown: number[] = []
  const compare = (shown: Body) => {
    if (shown.comments !== undefined) expect(Number(shown.comments.count)).toBe(sum.comments)
    expect(Number(shown.reactions?.count ?? 0)).toBe(sum.reactions.size)
    for (const { created_by, content } of shown.reactions?.data ?? [])
      expect(sum.reactions.get(String(created_by.id))).toBe(content)
    for (const option of shown.options?.data ?? [])
      expect(Number(option.votes.count)).toBe(sum.votes.get(String(option.id)) ?? 0)
  }
  for (const { event, action, actor, ...shown } of events) {
    const name: string = event ?? action
    if (name === 'comment_created' && String(shown.comment.parent.id) === of.id) sum.comments++
    if (name === 'comment_deleted' && String(shown.comment.parent.id) === of.id) sum.comments--
    if (name === 'reaction_added') sum.reactions.set(String(actor.id), shown.reaction)
    if (name === 'reaction_removed') sum.reactions.delete(String(actor.id))
    if (name.startsWith('vote_')) {
      const id = String(shown.option.id)
      sum.votes.set(id, (sum.votes.get(id) ?? 0) + (name === 'vote_added' ? 1 : -1))
      votesShown.push(Number(shown.option.votes.count))
      expect(votesShown.at(-1)).toBe(sum.votes.get(id))
    }
    for (const entity of ['post', 'message', 'file']) {
      const item = shown[entity]
      if (item !== undefined && String(item.id) === of.id) compare(item)
    }
  }
  return { ...sum, votesShown }
}

/** What one event shows that is counted. */
const countsIn = ({ post, option, ...shown }: Heard) => ({
  comments: post?.comments?.count,
  reactions: post?.reactions?.count,
  votes: post?.options?.data.map((one: Body) => one.votes.count) ?? option?.votes.count,
  rev: (post ?? shown.poll ?? shown.comment ?? shown.entity)?.app?.rev,
})

const revsOf = (events: readonly Heard[]) => events.map(({ rev, id }) => Number(rev ?? id))

test.each([
  { way: 'over the bus', hasRedis: true },
  { way: 'without a bus', hasRedis: false },
])(
  'the k-th vote of many at once shows k votes, to every client of every node, $way',
  async ({ hasRedis, ...context }) => {
    if (hasRedis && redisIsMissing !== null) return console.warn(`${context.way}: ${redisIsMissing}`)
    await using cluster = await startNodes({ hasRedis })
    const { nodes } = cluster
    const { app, people } = await nodes[0].chatWith(80)
    const { id } = await create(people[0]!, `/api/apps/${app}/messages`, { text: '?', options: [{ text: 'A' }] })
    const option = (await people[0]!.get(`/api/messages/${id}`)).body.options.data[0].id
    const [listeners, hubs] = await listenOnAll(nodes, people[0]!, app, ['vote_added'])
    const before = listeners[0]!.head

    await Promise.all(people.map((one, i) => create(on(nodes[i % 3]!, one), `/api/options/${option}/vote`)))

    const heard = await Promise.all(listeners.map(({ listener }) => listener.take(80)))
    const late = await cluster.startLate()
    const replayed = await replay(late, people[0]!, { app, after: before, count: 80 })
    const oneByOne = Array.from({ length: 80 }, (_, i) => i + 1)
    for (const events of [...heard, replayed]) expect(addUp(events, { id }).votesShown).toEqual(oneByOne)
    for (const hub of hubs) {
      const told = await heardOf(hub, 80)
      expect(addUp(told, { id }).votesShown).toEqual(oneByOne)
    }
    for (const part of [...listeners.map(({ listener }) => listener), ...hubs]) await part[Symbol.asyncDispose]()
  },
)

test.each([
  { way: 'over the bus', hasRedis: true },
  { way: 'without a bus', hasRedis: false },
])('edits show the comments, reactions and votes before them, and no later ones, $way', async ({ hasRedis, way }) => {
  if (hasRedis && redisIsMissing !== null) return console.warn(`${way}: ${redisIsMissing}`)
  await using cluster = await startNodes({ hasRedis })
  const { nodes } = cluster
  const people = await Promise.all(Array.from({ length: 12 }, (_, i) => nodes[0].person(`Person ${i}`)))
  const app = await appOf(nodes[0], 'posts', people)
  const [ann] = people as [Person, ...Person[]]
  await using early = await listen(nodes[0].url, { token: ann.token })
  const { head_rev: head } = await early.subscribe(app)
  const { id } = await create(ann, `/api/apps/${app}/posts`, { text: '?', options: [{ text: 'A' }, { text: 'B' }] })
  const options: string[] = (await ann.get(`/api/posts/${id}`)).body.options.data.map((one: Body) => one.id)
  const [listeners, hubs] = await listenOnAll(nodes, ann, app, [
    'post_updated',
    'comment_created',
    'comment_deleted',
    'reaction_added',
    'reaction_removed',
    'vote_added',
    'vote_removed',
  ])

  const wishes: ((one: Person) => Promise<unknown>)[] = [
    one => create(one, `/api/posts/${id}/comments`, { text: 'comment' }),
    one => one.post(`/api/posts/${id}/reactions`, { content: '🎉' }),
    one => one.post(`/api/posts/${id}/reactions`, { content: '😄' }),
    one => one.delete(`/api/posts/${id}/reactions`),
    one => create(one, `/api/options/${options[0]}/vote`),
    one => create(one, `/api/options/${options[1]}/vote`),
  ]
  const plans = fc.sample(
    fc.array(fc.record({ node: fc.nat(2), who: fc.nat(11), wish: fc.nat(wishes.length) }), {
      minLength: 60,
      maxLength: 60,
    }),
    2,
  )
  let edits = 0
  for (const plan of plans) {
    const run = ({ node, who, wish }: (typeof plan)[number]) =>
      wish === wishes.length
        ? on(nodes[node]!, ann).patch(`/api/posts/${id}`, { text: `edit ${++edits}` })
        : wishes[wish]!(on(nodes[node]!, people[who]!))
    await Promise.all(plan.map(run))
  }
  await ann.patch(`/api/posts/${id}`, { text: 'the end' })

  const isEnd = ({ event, action, post }: Heard) => (event ?? action) === 'post_updated' && post.text === 'the end'
  // By its rev: an earlier edit that is read from the log shows the last text.
  await using latest = await listen(nodes[0].url, { token: ann.token })
  const { head_rev: last } = await latest.subscribe(app)
  const isLast = ({ rev }: Heard) => rev === last
  const heard = (await Promise.all(listeners.map(({ listener }) => listener.hearUntil('event', isLast)))).map(frames =>
    frames.filter(({ type }) => type === 'event'),
  )
  const post = (await ann.get(`/api/posts/${id}`)).body
  for (const events of heard) {
    expect(revsOf(events)).toEqual(revsOf(heard[0]!))
    const sum = addUp(events, { id })
    expect(`${sum.comments}`).toBe(post.comments.count)
    expect(`${sum.reactions.size}`).toBe(post.reactions.count)
  }
  const late = await cluster.startLate()
  await using back = await listen(late.url, { token: ann.token })
  await back.subscribe(app, head)
  const replayed = (await back.hearUntil('event', isLast)).filter(({ type }) => type === 'event')
  const live = new Map(heard[0]!.map(frame => [frame.rev, countsIn(frame)]))
  // A replay leaves out comments that are gone by now.
  for (const frame of replayed.slice(1)) expect(countsIn(frame)).toEqual(live.get(frame.rev))
  expect(countsIn(replayed[0]!)).toMatchObject({ comments: '0', reactions: undefined, votes: ['0', '0'] })
  for (const hub of hubs) {
    await hub.hear(`a${app}:post_updated`, isEnd)
    addUp(
      hub.told.map(({ payload }) => payload),
      { id },
    )
  }
  for (const part of [...listeners.map(({ listener }) => listener), ...hubs]) await part[Symbol.asyncDispose]()
})

test('what is replayed shows the counts of its time: of a message, of a file, and the rev of the app', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'files', [ann, ben])
  await using live = await listen(server.url, { token: ann.token })
  const { head_rev: head } = await live.subscribe(app)
  const blob = (await upload(ann, { name: 'a.txt', content: 'a', type: 'text/plain' })).body.id
  const { id } = await create(ann, `/api/apps/${app}/files`, { blob_id: blob })
  await create(ben, `/api/files/${id}/comments`, { text: 'one' })
  await ann.patch(`/api/files/${id}`, { name: 'b.txt' })
  await create(ben, `/api/files/${id}/comments`, { text: 'two' })
  await ann.patch(`/api/files/${id}`, { name: 'c.txt' })
  const heard = await live.take(5)

  await using late = await listen(server.url, { token: ben.token })
  await late.subscribe(app, head)
  const replayed = await late.take(5)

  addUp(replayed, { id })
  const seen = (events: Heard[]) =>
    events.map(({ rev, event, file, comment }) => [rev, event, (file ?? comment).app?.rev])
  expect(seen(replayed)).toEqual(seen(heard))
  const counts = replayed.flatMap(({ file }) => (file === undefined ? [] : [file.comments.count]))
  expect(counts).toEqual(['0', '1', '2'])
})

/** The person, asking another node. */
function on(node: Server, who: Person): Person {
  return { ...who, ...client(node.url, who.token) }
}

/** A native client and one of the hub on each node, subscribed to an app. */
async function listenOnAll(
  nodes: readonly Server[],
  { token }: Person,
  app: string,
  names: string[],
): Promise<[{ listener: Listener; head: string }[], HubClient[]]> {
  const listeners = await Promise.all(
    nodes.map(async ({ url }) => {
      const listener = await listen(url, { token })
      const { head_rev: head } = await listener.subscribe(app)
      return { listener, head }
    }),
  )
  const hubs = await Promise.all(
    nodes.map(async ({ url }) => {
      const hub = await joinHub(url, { token: () => token })
      for (const name of names) await hub.subscribe(`a${app}:${name}`)
      return hub
    }),
  )
  return [listeners, hubs]
}

async function heardOf(hub: HubClient, count: number): Promise<Heard[]> {
  await expect.poll(() => hub.told.length, { timeout: 20_000 }).toBe(count)
  return hub.told.map(({ payload }) => payload)
}

/** The events after a rev, for a client that comes back. */
async function replay(
  { url }: Server,
  { token }: Person,
  { app, after, count }: { app: string; after: string; count: number },
): Promise<Heard[]> {
  await using back = await listen(url, { token })
  await back.subscribe(app, after)
  return await back.take(count)
}
