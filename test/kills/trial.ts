import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../faults/random.ts'
import { client, type Body } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram, type ReadyProgram, type TemporaryDirectory } from '../support/process.ts'
import { answer, startReceiver } from '../support/receiver.ts'

export interface TrialOptions {
  seed: number
  kills: number
  dir: TemporaryDirectory
  environment?: Record<string, string>
  /** Called after each kill, so that a test need not wait until the leases of the dead node are over. */
  onKill?: () => Promise<void>
  say: (line: string) => void
}

/** What is known of one question at the end. */
export interface Asked {
  id: string
  token: string
  /** What the agent has written in reply. */
  replies: { text: string; error?: string }[]
  state: string
  attempts: number
}

/** People who ask at the same time: there is always something under way when the node is killed. */
const askers = 8

/** The node lives for as long after it is ready, before it is killed. */
const longestLifeMs = 2_500

/** Leases of the last node that was killed, and all that waits in a row behind its runs. */
const settleMs = 90_000

/**
 * Asks an agent without a pause while its only node is killed again and again, `kills` times at moments that the seed
 * chooses, and is started at once. Gives all that was acknowledged, with what became of it.
 */
export async function runTrial({ seed, kills, dir, environment = {}, onKill, say }: TrialOptions): Promise<Asked[]> {
  const random = new Random(seed)
  const orders = await startReceiver(answer(200, '{}', { 'content-type': 'application/json' }))
  let program = await startProgram(dir, environment)
  try {
    await makeAgent(program, orders.url)
    const people = await Promise.all(Array.from({ length: askers }, (_, n) => join(program, `asker-${n}`)))
    const over = new AbortController()
    const current = () => program.url
    const asking = people.map(person => askOn(person, { current, random: random.fork(), signal: over.signal }))
    for (let n = 1; n <= kills; n++) {
      await delay(random.integer(50, longestLifeMs))
      program.kill('SIGKILL')
      await program.ended
      await onKill?.()
      program = await startProgram(dir, environment)
      if (n % 10 === 0) say(`killed ${n} times`)
    }
    over.abort()
    const asked = (await Promise.all(asking)).flat()
    say(`${asked.length} questions were acknowledged`)
    await settle(program)
    return await collect(program, people, asked)
  } finally {
    await program[Symbol.asyncDispose]()
    await orders[Symbol.asyncDispose]()
  }
}

async function makeAgent({ admin }: ReadyProgram, url: string): Promise<void> {
  const parameters = { type: 'object', properties: { n: { type: 'string' } } }
  const functions = [{ name: 'look', description: 'Looks', url, parameters }]
  await admin.post('/api/agents', {
    uid: 'assistant',
    name: 'Assistant',
    provider: 'builtin',
    model: 'script',
    functions,
  })
}

interface Asker {
  token: string
  app: string
}

async function join({ url, admin }: ReadyProgram, uid: string): Promise<Asker> {
  const { body: user } = await admin.post('/api/users', { uid, name: uid })
  const { body: made } = await admin.post(`/api/users/${user.id}/tokens`)
  const token = made.access_token as string
  const { body: app } = await client(url, token).post('/api/apps', { type: 'agent_chat', members: ['assistant'] })
  return { token, app: app.id }
}

interface Asking {
  current: () => string
  random: Random
  signal: AbortSignal
}

/** Asks, and asks again when it is answered; two at most wait at a time, so that none is answered with a later one. */
async function askOn(
  { token, app }: Asker,
  { current, random, signal }: Asking,
): Promise<Pick<Asked, 'id' | 'token'>[]> {
  const asked: Pick<Asked, 'id' | 'token'>[] = []
  for (let n = 0; !signal.aborted; n++) {
    const word = `word-${app}-${n}`
    const wait = `wait ${random.integer(0, 15) / 10}`
    const text = random.isLikely(0.5) ? `${wait}\nsay ${word}` : `call look {"n":"${n}"}\n${wait}\nsay ${word}`
    const id = await ask(() => client(current(), token), `/api/apps/${app}/messages`, text, word)
    asked.push({ id, token: word })
    await untilFewWait(() => client(current(), token), app, signal)
  }
  return asked
}

/** Until it is acknowledged, under its key, as clients do. */
async function ask(by: () => ReturnType<typeof client>, path: string, text: string, key: string): Promise<string> {
  for (;;) {
    try {
      const { status, body } = await by().post(path, { text }, { 'idempotency-key': key })
      if (status === 201) return body.id
      if (status < 500) throw new Refused(`A question was answered with ${status}`)
    } catch (error) {
      // The node is dead, or not there yet.
      if (error instanceof Refused) throw error
    }
    await delay(50)
  }
}

class Refused extends Error {}

async function untilFewWait(by: () => ReturnType<typeof client>, app: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const found = await by()
      .get(`/api/apps/${app}/runs`)
      .catch(() => null)
    if (found?.status === 200 && (found.body.data ?? []).length < 2) return
    await delay(50)
  }
}

async function settle({ admin }: ReadyProgram): Promise<void> {
  await eventually(
    async () => {
      for (const state of ['queued', 'running', 'waiting']) {
        const { body } = await admin.get(`/api/runs?state=${state}&count_only=true`)
        if (body.count !== '0') throw new Error(`${body.count} runs are ${state}`)
      }
    },
    { timeoutMs: settleMs, everyMs: 200 },
  )
}

async function collect(
  { url, admin }: ReadyProgram,
  people: Asker[],
  asked: Pick<Asked, 'id' | 'token'>[],
): Promise<Asked[]> {
  const runs = await listAll(skip => admin.get(`/api/runs?take=100&skip=${skip}`))
  const items: Body[] = []
  for (const { token, app } of people) {
    const by = client(url, token)
    items.push(...(await listAll(skip => by.get(`/api/apps/${app}/messages?order_by=id&take=100&skip=${skip}`))))
  }
  const replies = items.filter(({ metadata }) => metadata?.reply_to !== undefined)
  return asked.map(question => {
    const run = runs.find(({ item }) => item.id === question.id)
    const own = replies.filter(({ metadata }) => metadata.reply_to.id === question.id)
    return {
      ...question,
      replies: own.map(({ text, metadata }) => ({ text, ...(metadata.error && { error: metadata.error }) })),
      state: run?.state ?? 'missing',
      attempts: Number(run?.attempts ?? 0),
    }
  })
}

async function listAll(page: (skip: number) => Promise<{ body: Body }>): Promise<Body[]> {
  const all: Body[] = []
  for (;;) {
    const { data = [], count } = (await page(all.length)).body
    all.push(...data)
    if (data.length === 0 || all.length >= Number(count)) return all
  }
}

/** Lost leases after which a run is given up, as docs/agents.md says. */
const mostAttempts = 5

/** What is wrong with what was asked: nothing, where each question has exactly one answer, the right one. */
export function findFaults(asked: readonly Asked[]): string[] {
  return asked.flatMap(({ id, token, replies, state, attempts }) => {
    const [reply] = replies
    const what = `Question ${id} (${state}, ${attempts} attempts) has ${JSON.stringify(replies)}`
    if (reply === undefined || replies.length > 1) return [what]
    if (state === 'done' && reply.error === undefined && reply.text.endsWith(token)) return []
    const isGivenUp = state === 'failed' && reply.error === 'interrupted' && attempts >= mostAttempts
    return isGivenUp ? [] : [what]
  })
}
