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
  const thousands = result.operations / 1000
  return {
    ...described,
    perSecond: result.operations / result.seconds,
    ...toPercentiles(result.latencies),
    ...toCpu(usage, thousands, bare !== undefined),
    rssMiB: rssBytes / 1024 / 1024,
    others: shareOfOthers(usage),
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
    ...toCpu(usage, result.latencies.count / 1000, bare !== undefined),
    rssMiB: rssBytes / 1024 / 1024,
    others: shareOfOthers(usage),
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
  const measured = processesOf(stage, undefined)
  const before = readUsage(measured)
  const startedAt = performance.now()
  let measurement: Measurement | null = null
  await load.hold({ kind: 'hold', port: parley.port, ...job }, async () => {
    const seconds = (performance.now() - startedAt) / 1000
    const usage = usageBetween(before, readUsage(measured))
    const count = job.listeners.length
    measurement = {
      ...described,
      perSecond: count / seconds,
      p50Ms: null,
      p95Ms: null,
      p99Ms: null,
      ...toCpu(usage, count / 1000, false),
      rssMiB: readRssBytes(measured.server) / 1024 / 1024,
      others: shareOfOthers(usage),
    }
  })
  if (measurement === null) throw new Error('The WebSockets were closed before all were open')
  return measurement
}

/** Does something and takes what the processes used between the job's `started` and `ended`. */
async function withUsage<Result>(
  stage: Stage,
  bare: { pid: number } | undefined,
  run: (hear: (notice: 'started' | 'ended') => void) => Promise<Result>,
): Promise<{ result: Result; usage: Usage; rssBytes: number }> {
  const measured = processesOf(stage, bare)
  let before: Usage | null = null
  let after: Usage | null = null
  let rssBytes = 0
  const result = await run(notice => {
    if (notice === 'started') before = readUsage(measured)
    else {
      after = readUsage(measured)
      rssBytes = readRssBytes(measured.server)
    }
  })
  if (before === null || after === null) throw new Error('A job did not say when it began and ended')
  return { result, usage: usageBetween(before, after), rssBytes }
}

function processesOf({ parley, load }: Stage, bare: { pid: number } | undefined): Measured {
  return {
    server: bare?.pid ?? parley.pid,
    postmaster: bare === undefined ? parley.postmaster : null,
    load: load.pid,
  }
}

function toPercentiles({ p50Ms, p95Ms, p99Ms }: ExchangeResult['latencies']) {
  return { p50Ms, p95Ms, p99Ms }
}

function toCpu(usage: Usage, thousands: number, isBare: boolean) {
  return {
    serverCpu: usage.serverSeconds / thousands,
    databaseCpu: isBare ? null : usage.databaseSeconds / thousands,
    loadCpu: usage.loadSeconds / thousands,
  }
}

/** A figure that was reached by refusing requests is none. */
function requireSuccess(label: string, { failures, operations }: ExchangeResult): void {
  if (failures > 0) throw new Error(`${label}: ${failures} of ${operations} requests were refused`)
  if (operations === 0) throw new Error(`${label}: nothing was answered`)
}
