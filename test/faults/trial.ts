import { setTimeout as delay } from 'node:timers/promises'
import type { Receiver } from '../support/receiver.ts'
import { Cluster } from './cluster.ts'
import { readEnding } from './ending.ts'
import { drawFaults } from './fault.ts'
import type { History } from './history.ts'
import { HubObserver } from './hub-observer.ts'
import { NativeObserver } from './native-observer.ts'
import type { Observer } from './observer.ts'
import type { Rewrite } from './proxy.ts'
import { Random } from './random.ts'
import { startNotingReceiver } from './receiver.ts'
import { inflict } from './schedule.ts'
import { Recorder } from './recorder.ts'
import { makeWorld, registerWebhook, type World } from './world.ts'
import { Writer } from './writer.ts'

export interface TrialOptions {
  seed: number
  /** How many faults at most. */
  faults: number
  /** How long faults are begun at most. */
  minutes: number
  /** Between two wishes of a writer, on average. */
  pauseMs: number
  /** Kinds of faults with this in their name. */
  only?: string
  rewrite?: Rewrite
  /** Told a line now and then. */
  say: (line: string) => void
  /** Ends the run early, with everything that it has started. */
  signal?: AbortSignal
}

export interface Outcome {
  history: History
  /** What each node printed, in order. */
  logs: string[]
  /** Nodes that ended by themselves. */
  deaths: Recorder['deaths']
}

/** Of people, all in all apps. Fewer than ten, so that everybody is told of everybody's markers. */
const size = { people: 6, apps: 4 }

/** Everybody must have heard of everything by then. Leases on webhooks of a node that has died take 15 s to end. */
const settleMs = 60_000

/**
 * One run: real nodes, a database and Redis, people who write and listen meanwhile, faults one after the other and two at
 * a time; then quiet, and everything that was seen.
 */
export async function runTrial({
  seed,
  faults,
  minutes,
  pauseMs,
  only,
  rewrite = {},
  say,
  signal,
}: TrialOptions): Promise<Outcome> {
  const random = new Random(seed)
  const recorder = new Recorder()
  const ending: (() => PromiseLike<unknown>)[] = []
  const onDeath = (node: number, words: string) => {
    say(`node ${node} ${words}`)
    recorder.deaths.push({ at: recorder.now(), node, words })
  }
  try {
    const cluster = await Cluster.start({ nodes: 3, rewrite, onDeath })
    ending.unshift(() => cluster.close())
    const { nodes } = cluster
    const world = await makeWorld(nodes[0]!.url, size)
    const receivers = await startReceivers(cluster, world, recorder)
    ending.unshift(() => Promise.all(receivers.map(receiver => receiver[Symbol.asyncDispose]())))

    const watching = new AbortController()
    const about = (kind: string, i: number) => {
      const name = `${kind} ${i + 1}`
      recorder.observers.push(name)
      const place = { person: world.people[i]!, world, nodes, recorder }
      return { name, ...place, random: random.fork(), signal: watching.signal }
    }
    const native = (['json', 'msgpack', 'json'] as const).map((form, i) => new NativeObserver(about('native', i), form))
    const hub = (['json', 'messagepack'] as const).map((form, i) => new HubObserver(about('hub', i), form))
    const observers: Observer[] = [...native, ...hub]
    const observing = Promise.all(observers.map(observer => observer.run()))
    ending.unshift(async () => {
      watching.abort()
      await observing
    })

    const writing = new AbortController()
    const writers = world.people.map(person => {
      return new Writer({ person, world, nodes, recorder, random: random.fork(), pauseMs, signal: writing.signal })
    })
    const written = Promise.all(writers.map(writer => writer.run()))
    ending.unshift(async () => {
      writing.abort()
      await written
    })

    const schedule = { faults, minutes, random: random.fork(), recorder, say, signal }
    await inflict(drawFaults(cluster, random.fork(), only), schedule)
    say('the faults are over; waits until everybody knows everything')
    writing.abort()
    await written
    await settle(cluster, world, { native, hub, recorder })
    // Before observers are told to leave: what they do then is not part of it.
    const history = recorder.toHistory(await readEnding(cluster, world))
    return { history, logs: nodes.map(({ output }) => output), deaths: recorder.deaths }
  } finally {
    for (const end of ending) await end()
  }
}

/** Two receivers; from the history's beginning on, because nothing has been written yet. */
async function startReceivers({ nodes, sql }: Cluster, { apps }: World, recorder: Recorder): Promise<Receiver[]> {
  const messages = ['message_created', 'message_updated']
  const kinds = [
    { name: 'receiver 1', triggers: ['messages'], actions: messages },
    { name: 'receiver 2', triggers: ['messages', 'apps'], actions: [...messages, 'app_marked'] },
  ]
  const receivers: Receiver[] = []
  for (const { name, triggers, actions } of kinds) {
    const receiver = await startNotingReceiver(name, recorder)
    receivers.push(receiver)
    await registerWebhook(nodes[0]!.url, receiver.url, triggers)
    // Without Redis, another node hears of a registration within two seconds.
    const rows = await sql<{ id: number; head_rev: number }[]>`select id, head_rev from apps where id = any(${apps})`
    recorder.receivers.push({ name, actions, since: Object.fromEntries(rows.map(row => [row.id, row.head_rev])) })
  }
  await delay(2_500)
  return receivers
}

interface Watched {
  native: NativeObserver[]
  hub: HubObserver[]
  recorder: Recorder
}

/** Until everybody has heard the newest of every app, or time is up: then the checks say what is missing. */
async function settle({ sql }: Cluster, { apps }: World, { native, hub, recorder }: Watched): Promise<void> {
  const deadline = recorder.now() + settleMs
  while (recorder.now() < deadline) {
    await delay(500)
    const ends = await sql<{ app: number; head: number; message: number }[]>`
      select app_id as app, max(rev) as head, max(rev) filter (where type = 'message_created') as message
      from events where app_id = any(${apps}) group by app_id`
    const [{ queued } = { queued: 1 }] = await sql<{ queued: number }[]>`
      select count(*)::int as queued from deliveries where status = 'queued'`
    const isKnown = ends.every(
      ({ app, head, message }) =>
        native.every(observer => (observer.last(app) ?? 0) >= head) &&
        hub.every(observer => (observer.last(app) ?? 0) >= message),
    )
    if (queued === 0 && isKnown) return
  }
}
