import { setTimeout as delay } from 'node:timers/promises'
import { figureOf, median, ratioOf, type Measurement } from '../figures.ts'
import { inParallel } from '../in-parallel.ts'
import { measureExchange } from '../measure.ts'
import { settledBytes } from '../memory.ts'
import { SlowProvider } from '../provider/provider.ts'
import type { Scenario, Stage } from '../stage.ts'
import { smallRooms, toCompany } from '../traffic.ts'

/** Answers that are open at a time. */
const usualRuns = 1_000
const trialRuns = 5

/** Questions one after the other. */
const usualQuestions = 50
const trialQuestions = 2

/** Messages a second that people write meanwhile, to each other: what a small company writes. */
const perSecond = 200

/** Notifications of a message are made five seconds after it. */
const quietMs = 7_000

const without = 'Parley, nobody answers'
const during = 'Parley, while agents answer'

/**
 * What do agents cost those who write to people? A thousand answers are open, of a provider that takes its time for each.
 * What counts is the wait for an acknowledgement meanwhile, beside the same without, and the memory of an open answer;
 * then, on a server that does nothing else, how soon a provider is asked.
 */
export const agents: Scenario = {
  name: 'agents',
  question: `What do ${usualRuns.toLocaleString('en')} answers of agents cost people who write, and how soon is a provider asked?`,
  figure: 'p99 of the acknowledgement while answers are open ÷ without any',
  needs: { rooms: smallRooms },
  seconds: 8,

  async run(stage) {
    const provider = await SlowProvider.start()
    const runs = stage.isTrial ? trialRuns : usualRuns
    const settings = {
      OPENAI_URL: provider.url,
      AGENT_RUNS_AT_ONCE: String(runs),
      AGENT_RUNS_PER_USER: '0',
      AGENT_SECONDS: '600',
    }
    try {
      await stage.parley.restart({ nodes: 1, redis: null, settings })
      const chats = await makeChats(stage, runs)
      const delays = await askOneByOne(stage, provider, chats)
      const measurements: Measurement[] = []
      let bytes = 0
      for (let round = 0; round < stage.rounds; round++) {
        measurements.push(await write(stage, without))
        const before = await settledBytes(stage.parley, stage.isTrial)
        provider.hold(true)
        await Promise.all([ask(stage, chats), provider.opened(runs)])
        // What follows from the questions themselves comes as late as their notifications.
        await delay(stage.isTrial ? 0 : quietMs)
        measurements.push(await write(stage, during))
        const taken = (await settledBytes(stage.parley, stage.isTrial)) - before
        // The heap keeps what it has grown by: the first round takes the most.
        bytes = Math.max(bytes, taken)
        provider.hold(false)
        await allAnswered(stage)
        if (!stage.isTrial) await delay(quietMs)
        stage.say(
          `${toKiB(taken / runs)} KiB an answer, p99 ${measurements.map(one => one.p99Ms!.toFixed(1)).join(', ')} ms`,
        )
      }
      return {
        measurements,
        targets: [
          {
            name: 'p99 of the acknowledgement, while agents answer ÷ without',
            value: ratioOf(measurements, during, without, 'p99Ms'),
            bound: 'at most',
            limit: 1.1,
            unit: '×',
          },
          { name: 'memory of an open answer', value: bytes / runs / 1024, bound: 'at most', limit: 100, unit: 'KiB' },
          {
            name: 'p50 from the acknowledgement of a question to the request',
            value: median(delays),
            bound: 'at most',
            limit: 100,
            unit: 'ms',
          },
        ],
        notes: [
          `${runs.toLocaleString('en')} answers are open, each of a provider that says a word every five seconds.`,
          `Each of ${delays.length} questions was asked when the one before was answered; the slowest provider was ` +
            `asked ${Math.max(...delays).toFixed(0)} ms after its question was acknowledged.`,
          `A message cost ${toCpu(measurements, without)} s of processor time for 1,000 without, and ` +
            `${toCpu(measurements, during)} s while agents answered, theirs included.`,
        ],
      }
    } finally {
      provider.stop()
      await stage.parley.restart()
    }
  },
}

interface Chat {
  app: string
  token: string
}

/** Chats of the people with an agent. */
async function makeChats({ parley, rooms }: Stage, count: number): Promise<Chat[]> {
  await parley.call('POST', '/api/agents', { uid: 'bench', name: 'Bench', provider: 'openai', model: 'bench' })
  const people = rooms.rooms!.flatMap(({ members }) => members)
  const chats: Chat[] = []
  await inParallel(count, async at => {
    const { token } = people[at % people.length]!
    const made = await parley.call('POST', '/api/apps', { type: 'agent_chat', members: ['bench'] }, token)
    chats[at] = { app: (JSON.parse(made) as { id: string }).id, token }
  })
  return chats
}

async function ask({ parley }: Stage, chats: Chat[]): Promise<void> {
  await inParallel(chats.length, async at => {
    const { app, token } = chats[at]!
    await parley.call('POST', `/api/apps/${app}/messages`, { text: 'Where is order 17?' }, token)
  })
}

/** Milliseconds from each acknowledgement to the arrival of the request. */
async function askOneByOne(stage: Stage, provider: SlowProvider, chats: Chat[]): Promise<number[]> {
  const delays: number[] = []
  // The first are asked of code that was never run.
  const warmups = stage.isTrial ? 0 : 5
  for (let at = 0; at < warmups + (stage.isTrial ? trialQuestions : usualQuestions); at++) {
    const arrived = provider.next()
    await ask(stage, [chats[at % chats.length]!])
    const acknowledgedMs = Number(process.hrtime.bigint()) / 1e6
    const delayMs = Math.max(0, (await arrived) - acknowledgedMs)
    if (at >= warmups) delays.push(delayMs)
    await allAnswered(stage)
  }
  stage.say(`a provider is asked after ${median(delays).toFixed(1)} ms`)
  return delays
}

/** Waits until no answer is open. */
async function allAnswered({ parley }: Stage): Promise<void> {
  for (;;) {
    const counts = await Promise.all(
      ['queued', 'running'].map(state => parley.call('GET', `/api/runs?state=${state}&count_only=true`)),
    )
    if (counts.every(text => Number((JSON.parse(text) as { count: string }).count) === 0)) return
    await delay(50)
  }
}

function write(stage: Stage, label: string): Promise<Measurement> {
  const described = { label, subject: label === without ? 'baseline' : 'parley', unit: 'sends' } as const
  return measureExchange(stage, described, { connections: toCompany(stage.rooms.rooms!), perSecond })
}

const toKiB = (bytes: number) => (bytes / 1024).toFixed(0)

function toCpu(measurements: Measurement[], label: string): string {
  const cost = figureOf(measurements, label, 'serverCpu') + figureOf(measurements, label, 'databaseCpu')
  return cost.toFixed(2)
}
