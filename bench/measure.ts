import { untilDone, untilNothingWaits } from './drain.ts'
import type { Measurement } from './figures.ts'
import type { BroadcastJob, BroadcastResult } from './load/broadcast.ts'
import type { ExchangeJob } from './load/exchange.ts'
import type { PacedJob } from './load/paced.ts'
import type { HoldJob } from './load/process.ts'
import type { Notice, Notify, Progress, Recorded } from './load/recorder.ts'
import type { Parley } from './parley.ts'
import type { AnyStage, Stage } from './stage.ts'
import { readRssBytes, readUsage, shareOfOthers, usageBetween, type Usage } from './usage.ts'

type Described = Pick<Measurement, 'label' | 'subject' | 'unit'>
type Bare = { pid: number; port: number }

/** Load without what is the same for all of it; with a rate at fixed instants, else in closed loops. */
type LoadJob = Omit<ExchangeJob, 'kind' | 'warmupSeconds' | 'seconds' | 'servers'> & { perSecond?: number | null }

/** Makes load against Parley, or against `bare`. */
export async function measureExchange(
  stage: AnyStage,
  described: Described,
  job: LoadJob,
  bare?: Bare,
): Promise<Measurement> {
  return (await measureParts(stage, described, job, bare)).measurement
}

/** One slice of a measurement, and what was used in it. */
export interface Part {
  latencies: Recorded['latencies']
  usage: Usage | null
  rssBytes: number | null
}

/** The same, and what it was in each slice. */
export async function measureParts(
  stage: AnyStage,
  described: Described,
  job: LoadJob,
  bare?: Bare,
): Promise<{ measurement: Measurement; parts: Part[]; allOperations: number }> {
  const { result, usage, rssBytes, samples } = await withUsage(stage, bare, hear =>
    stage.load.run(toLoad(stage, job, bare), hear),
  )
  requireSuccess(described.label, result, stage.isTrial)
  const measurement = {
    ...described,
    perSecond: result.operations / result.seconds,
    ...toPercentiles(result.latencies),
    ...toCosts(usage, rssBytes, result.operations, bare !== undefined),
  }
  return { measurement, parts: toParts(result, samples), allOperations: result.allOperations }
}

export interface Done {
  /** Its processor time is that of all that followed from the operations, its rate what could be kept up like that. */
  measurement: Measurement
  /** How long the servers, by their own account, had something left to do after the last operation. */
  backlogSeconds: number
  /** From the first operation until server and database were as quiet as before. */
  seconds: number
  /** Operations from the first to the last, the warm-up included. */
  operations: number
  parts: Part[]
}

/** Makes load against Parley, beginning when nothing is left to do, and ending when everything is done. */
export async function measureUntilDone(stage: Stage, described: Described, job: LoadJob): Promise<Done> {
  const { parley, load, isTrial, say } = stage
  await untilDone(parley, load.pid, isTrial)
  const bytesBefore = await parley.databaseBytes()
  const before = readUsage({ ...parley.processes, load: load.pid })
  const startedAt = performance.now()
  const { measurement, parts, allOperations } = await measureParts(stage, described, job)
  const loadSeconds = (performance.now() - startedAt) / 1000
  say(`${described.label}: ${measurement.perSecond!.toFixed(0)}/s; waits until everything is done`)
  const backlogSeconds = await untilNothingWaits(parley)
  const { usage, seconds: quietingSeconds } = await untilDone(parley, load.pid, isTrial)
  const done = {
    ...measurement,
    perSecond: allOperations / (loadSeconds + backlogSeconds),
    ...toCosts(usageBetween(before, usage), null, allOperations, false),
    rssMiB: measurement.rssMiB,
    diskBytes: ((await parley.databaseBytes()) - bytesBefore) / allOperations,
  }
  const seconds = loadSeconds + backlogSeconds + quietingSeconds
  return { measurement: done, backlogSeconds, seconds, operations: allOperations, parts }
}

/**
 * The same of a server that puts nothing off. PostgreSQL's cleaning is not awaited, which is counted in what is compared
 * with it.
 */
export async function measurePeer(stage: AnyStage, described: Described, job: LoadJob): Promise<Measurement> {
  const bytesBefore = await stage.server.databaseBytes!()
  const { measurement, allOperations } = await measureParts(stage, described, job)
  return { ...measurement, diskBytes: ((await stage.server.databaseBytes!()) - bytesBefore) / allOperations }
}

function toLoad({ server, seconds, isTrial }: AnyStage, job: LoadJob, bare?: Bare): ExchangeJob | PacedJob {
  const { perSecond = null, ...rest } = job
  const servers = bare === undefined ? server.origins : [{ host: '127.0.0.1', port: bare.port, isSecure: false }]
  const all = { ...rest, servers, seconds, warmupSeconds: isTrial ? 0.1 : 1 }
  return perSecond === null ? { kind: 'exchange', ...all } : { kind: 'paced', perSecond, ...all }
}

function toParts({ slices }: Recorded, used: Sample[]): Part[] {
  return slices.map((latencies, at) => ({
    latencies,
    usage: used[at]?.usage && used[at + 1]?.usage ? usageBetween(used[at].usage, used[at + 1]!.usage!) : null,
    rssBytes: used[at + 1]?.rssBytes ?? null,
  }))
}

/** Runs a broadcast against Parley, or against `bare`; the operations are deliveries. */
export async function measureBroadcast(
  stage: AnyStage,
  described: Described,
  job: Omit<BroadcastJob, 'kind' | 'servers'>,
  bare?: Bare,
): Promise<{ measurement: Measurement; result: BroadcastResult }> {
  const servers = bare === undefined ? stage.server.origins : [{ host: '127.0.0.1', port: bare.port, isSecure: false }]
  const { result, usage, rssBytes } = await withUsage(stage, bare, hear =>
    stage.load.run({ kind: 'broadcast', servers, ...job }, hear),
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
  job: Omit<HoldJob, 'kind' | 'servers'>,
): Promise<Measurement> {
  const { parley, load } = stage
  let seconds = NaN
  const { usage, rssBytes } = await withUsage(stage, undefined, hear => {
    const startedAt = performance.now()
    hear('started')
    return load.hold({ kind: 'hold', servers: parley.origins, ...job }, async () => {
      seconds = (performance.now() - startedAt) / 1000
      hear('ended')
    })
  })
  const count = job.listeners.length
  const latencies = { p50Ms: null, p95Ms: null, p99Ms: null }
  return { ...described, perSecond: count / seconds, ...latencies, ...toCosts(usage, rssBytes, count, false) }
}

/** What the processes had used at one moment; null for those that nobody can look at. */
interface Sample {
  usage: Usage | null
  rssBytes: number | null
}

/** Does something and takes what the processes used between the job's `started` and `ended`, and at each `slice`. */
async function withUsage<Result>(
  { server, load, say }: AnyStage,
  bare: Bare | undefined,
  run: (hear: Notify) => Promise<Result>,
): Promise<{ result: Result; usage: Usage | null; rssBytes: number | null; samples: Sample[] }> {
  const processes = bare === undefined ? server.processes : { servers: [bare.pid], postmaster: null }
  const read = (): Sample => ({
    usage: processes && readUsage({ ...processes, load: load.pid }),
    rssBytes: processes && readRssBytes(processes.servers[0]!),
  })
  const samples: Sample[] = []
  const hear = (notice: Notice | Progress) => {
    if (typeof notice === 'string') samples.push(read())
    else say(`${notice.seconds.toFixed(0)} s: ${(notice.operations / notice.seconds).toFixed(0)}/s`)
  }
  const result = await (bare === undefined || !('holdStill' in server)
    ? run(hear)
    : (server as Parley).holdStill(() => run(hear)))
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || samples.length < 2) {
    throw new Error('A job did not say when it began and ended')
  }
  const usage = first.usage && last.usage && usageBetween(first.usage, last.usage)
  return { result, usage, rssBytes: last.rssBytes, samples }
}

export function toPercentiles({ p50Ms, p95Ms, p99Ms }: Recorded['latencies']) {
  return { p50Ms, p95Ms, p99Ms }
}

export function toCosts(usage: Usage | null, rssBytes: number | null, operations: number, isBare: boolean) {
  const thousands = operations / 1000
  return {
    serverCpu: usage && usage.serverSeconds / thousands,
    databaseCpu: usage && !isBare ? usage.databaseSeconds / thousands : null,
    loadCpu: usage && usage.loadSeconds / thousands,
    rssMiB: rssBytes && rssBytes / 1024 / 1024,
    diskBytes: null,
    others: usage && shareOfOthers(usage),
  }
}

/** A figure that was reached by refusing requests is none. */
function requireSuccess(label: string, { failures, operations, allOperations }: Recorded, isTrial: boolean): void {
  if (failures > 0) throw new Error(`${label}: ${failures} of ${allOperations + failures} requests were refused`)
  // A trial on a busy machine may end before the first answer.
  if (operations === 0 && !isTrial) throw new Error(`${label}: nothing was answered`)
}
