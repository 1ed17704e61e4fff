import type { Measurement, Target } from './figures.ts'
import type { BroadcastJob, BroadcastResult } from './load/broadcast.ts'
import type { ExchangeJob, ExchangeResult } from './load/exchange.ts'
import type { Generator } from './load/generator.ts'
import type { HoldJob } from './load/process.ts'
import type { Parley } from './parley.ts'
import { readRssBytes, readUsage, shareOfOthers, usageBetween, type Measured, type Usage } from './usage.ts'
import type { Need, Room } from './world.ts'

/** One question about speed, answered by measurements. */
export interface Scenario {
  name: string
  question: string
  /** The figure that answers it. */
  figure: string
  /** Rooms that must be there, by name. Scenarios that name the same rooms share them. */
  needs: Record<string, Need>
  /** The server must have done nothing else since its start. */
  isFresh?: boolean
  run(stage: Stage): Promise<Outcome>
}

/** What a scenario works with. */
export interface Stage {
  parley: Parley
  load: Generator
  /** The rooms that it asked for. */
  rooms: Record<string, Room[]>
  /** How long each measurement takes, and how often each is repeated; figures are medians. */
  seconds: number
  rounds: number
  say(line: string): void
}

export interface Outcome {
  measurements: Measurement[]
  targets: Target[]
  notes?: string[]
}

type Described = Pick<Measurement, 'label' | 'subject' | 'unit'>

/** Runs a closed loop against Parley, or against `bare`. */
export async function measureExchange(
  stage: Stage,
  described: Described,
  job: Omit<ExchangeJob, 'kind' | 'warmupSeconds' | 'seconds' | 'port'>,
  bare?: { pid: number; port: number },
): Promise<Measurement> {
  const { load, seconds } = stage
  const port = bare?.port ?? stage.parley.port
  const { result, usage, rssBytes } = await withUsage(stage, bare, hear =>
    load.run({ kind: 'exchange', port, warmupSeconds: 1, seconds, ...job }, hear),
  )
  requireSuccess(described.label, result)
  return {
    ...described,
    perSecond: result.operations / result.seconds,
    ...toPercentiles(result.latencies),
    ...toCosts(usage, rssBytes, result.operations, bare !== undefined),
  }
}

/** Runs a broadcast against Parley, or against `bare`; the operations are deliveries. */
export async function measureBroadcast(
  stage: Stage,
  described: Described,
  job: Omit<BroadcastJob, 'kind' | 'port'>,
  bare?: { pid: number; port: number },
): Promise<{ measurement: Measurement; result: BroadcastResult }> {
  const port = bare?.port ?? stage.parley.port
  const { result, usage, rssBytes } = await withUsage(stage, bare, hear =>
    stage.load.run({ kind: 'broadcast', port, ...job }, hear),
  )
  const measurement = {
    ...described,
    perSecond: result.latencies.count / job.seconds,
    ...toPercentiles(result.latencies),
    ...toCosts(usage, rssBytes, result.latencies.count, bare !== undefined),
  }
  return { measurement, result }
}

/** How long it takes until WebSockets are open, and done with their hello. */
export async function measureOpening(
  stage: Stage,
  described: Described,
  job: Omit<HoldJob, 'kind' | 'port'>,
): Promise<Measurement> {
  const { parley, load } = stage
  let seconds = NaN
  const { usage, rssBytes } = await withUsage(stage, undefined, hear => {
    const startedAt = performance.now()
    hear('started')
    return load.hold({ kind: 'hold', port: parley.port, ...job }, async () => {
      seconds = (performance.now() - startedAt) / 1000
      hear('ended')
    })
  })
  const count = job.listeners.length
  const latencies = { p50Ms: null, p95Ms: null, p99Ms: null }
  return { ...described, perSecond: count / seconds, ...latencies, ...toCosts(usage, rssBytes, count, false) }
}

/** Does something and takes what the processes used between the job's `started` and `ended`. */
async function withUsage<Result>(
  { parley, load }: Stage,
  bare: { pid: number } | undefined,
  run: (hear: (notice: 'started' | 'ended') => void) => Promise<Result>,
): Promise<{ result: Result; usage: Usage; rssBytes: number }> {
  const measured: Measured = {
    server: bare?.pid ?? parley.pid,
    postmaster: bare === undefined ? parley.postmaster : null,
    load: load.pid,
  }
  let before: Usage | null = null
  let after: Usage | null = null
  let rssBytes = 0
  const hear = (notice: 'started' | 'ended') => {
    if (notice === 'started') before = readUsage(measured)
    else {
      after = readUsage(measured)
      rssBytes = readRssBytes(measured.server)
    }
  }
  const result = await (bare === undefined ? run(hear) : parley.holdStill(() => run(hear)))
  if (before === null || after === null) throw new Error('A job did not say when it began and ended')
  return { result, usage: usageBetween(before, after), rssBytes }
}

function toPercentiles({ p50Ms, p95Ms, p99Ms }: ExchangeResult['latencies']) {
  return { p50Ms, p95Ms, p99Ms }
}

function toCosts(usage: Usage, rssBytes: number, operations: number, isBare: boolean) {
  const thousands = operations / 1000
  return {
    serverCpu: usage.serverSeconds / thousands,
    databaseCpu: isBare ? null : usage.databaseSeconds / thousands,
    loadCpu: usage.loadSeconds / thousands,
    rssMiB: rssBytes / 1024 / 1024,
    others: shareOfOthers(usage),
  }
}

/** A figure that was reached by refusing requests is none. */
function requireSuccess(label: string, { failures, operations }: ExchangeResult): void {
  if (failures > 0) throw new Error(`${label}: ${failures} of ${operations} requests were refused`)
  if (operations === 0) throw new Error(`${label}: nothing was answered`)
}
