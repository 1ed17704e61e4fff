import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { Balancer } from '../../src/trial/balancer.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Server } from '../support/server.ts'
import { requestText, Wire } from '../support/wire.ts'

/** Of every test server. */
const key = 'wys_a-key-for-tests-that-is-long-enough'

/** What became of many requests. */
interface Load {
  sent: number
  failures: string[]
  stop(): Promise<void>
}

/** Sends messages one after the other on `connections` that are kept, until it is stopped. */
function startLoad(addresses: () => string[], app: string, connections: number): Load {
  const agent = new Agent({ keepAlive: true })
  const load = { sent: 0, failures: [] as string[], isOver: false }
  const send = async (i: number) => {
    for (let n = i; !load.isOver; n++) {
      const all = addresses()
      const status = await post(agent, `${all[n % all.length]}/api/apps/${app}/messages`, `message ${i}-${n}`)
      load.sent++
      if (status !== '201') load.failures.push(status)
    }
  }
  const running = Promise.all(Array.from({ length: connections }, (_, i) => send(i)))
  return Object.assign(load, {
    async stop() {
      load.isOver = true
      await running
      agent.destroy()
    },
  })
}

/** The status of the answer, or the error that came instead. */
function post(agent: Agent, url: string, text: string): Promise<string> {
  return new Promise(resolve => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
    const outgoing = request(url, { agent, method: 'POST', headers }, answer => {
      answer.resume().on('end', () => resolve(String(answer.statusCode)))
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.end(JSON.stringify({ text }))
  })
}

/** Two nodes on one database, with an app in it. */
async function startTwo() {
  const database = await createDatabase()
  const start = () => startServer({ DATABASE_URL: database.url, DRAIN_QUIET_MS: '300' })
  const nodes = [await start(), await start()] as [Server, Server]
  const { body: app } = await nodes[0].admin.post('/api/apps', { type: 'chat_room', name: 'Garden' })
  return {
    nodes,
    app: app.id as string,
    start,
    count: async () => {
      const [row] = await database.sql<[{ count: number }]>`select count(*)::int as count from messages`
      return row.count
    },
    async [Symbol.asyncDispose]() {
      for (const part of [...nodes, database]) await part[Symbol.asyncDispose]()
    },
  }
}

test('a node that is stopped fails no request on connections that are kept', async () => {
  await using two = await startTwo()
  const [old, other] = two.nodes
  let addresses = [old.url, other.url]
  const load = startLoad(() => addresses, two.app, 8)
  await eventually(() => expect(load.sent).toBeGreaterThan(100), { timeoutMs: 20_000 })

  // Clients that choose the node themselves: from here on they know of the other one, with requests under way to both.
  addresses = [other.url]
  await old[Symbol.asyncDispose]()
  await load.stop()

  expect(load.failures).toEqual([])
  expect(await two.count()).toBe(load.sent)
})

test('a request on a connection that was idle until the node was stopped is served, and ends it', async () => {
  await using two = await startTwo()
  const [old] = two.nodes
  const wire = await Wire.open(Number(new URL(old.url).port))
  await wire.send(requestText('GET', '/version'))
  await wire.answer()

  const stopped = old[Symbol.asyncDispose]()
  await eventually(() => expect(fetch(`${old.url}/version`)).rejects.toThrow())
  await wire.send(requestText('GET', '/version'))

  expect(await wire.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
  expect(await wire.closed()).toBe('closed')
  await stopped
})

test('behind a balancer, a rolling restart fails no request and loses none', async () => {
  await using two = await startTwo()
  const balancer = new Balancer()
  for (const [i, { url }] of two.nodes.entries()) balancer.add(`node ${i}`, url)
  const url = await balancer.listen(0)
  const load = startLoad(() => [url], two.app, 8)

  for (const i of [0, 1, 0, 1] as const) {
    const sentBefore = load.sent
    await eventually(() => expect(load.sent).toBeGreaterThan(sentBefore + 50), { timeoutMs: 20_000 })
    await two.nodes[i][Symbol.asyncDispose]()
    two.nodes[i] = await two.start()
    balancer.add(`node ${i}`, two.nodes[i].url)
  }
  await load.stop()
  await balancer.close()

  expect(load.failures).toEqual([])
  expect(await two.count()).toBe(load.sent)
})

test('a node says for a while that it is about to stop, and serves meanwhile', async () => {
  await using database = await createDatabase()
  const server = await startServer({ DATABASE_URL: database.url, DRAIN_DELAY_SECONDS: '1' })

  const stopping = server[Symbol.asyncDispose]()

  const answers = await Promise.all(['/status', '/ready', '/live', '/version'].map(path => server.admin.get(path)))
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 200, 200])
  expect(answers[1]?.body).toMatchObject({ code: 'node-is-draining' })
  await stopping
})
