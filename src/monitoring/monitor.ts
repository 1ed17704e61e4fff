import { hostname } from 'node:os'
import type { Clock } from '../lib/clock.ts'
import type { Job, JobTurn } from '../jobs/jobs.ts'
import type { Sql } from '../postgres/sql.ts'
import { figures, type NodeFigureName, type ReadFigures } from './figures.ts'
import * as nodes from './node-store.ts'
import type { JobRow, NodeFigures, NodeRow } from './node-store.ts'
import * as samples from './sample-store.ts'

/** How often a node reports its state. */
const beatMs = 10_000

/** A node that has not reported for three beats is gone, or cannot reach PostgreSQL. */
const aliveSeconds = 30

const sampleMs = 60_000

/** Days for which samples are kept: a week, and the day a week before for comparison. */
const sampleDays = 8

/** How long the event loop's lag is measured at each beat. */
const lagProbeMs = 50

interface MonitorParts {
  /** The id of this node. */
  id: string
  sql: Sql
  version: string
  /** Reads the node's figures. */
  read: ReadFigures
  beat: () => Promise<Omit<NodeFigures, 'lag_ms'>>
  clock: Clock
}

/**
 * Reports this node's state in the database and reads the other nodes', without a further service. Writes one row every
 * ten seconds and one insert per minute. If the process dies, its row shows when it last reported, and is removed after
 * a day.
 */
export class Monitor {
  /** The id of this node. */
  readonly id: string
  readonly #parts: MonitorParts
  readonly #startedAt: Date
  readonly #jobs = new Map<string, JobRow>()
  #lagMs = 0
  #last: Record<NodeFigureName, number> | null = null

  constructor(parts: MonitorParts) {
    this.#parts = parts
    this.id = parts.id
    this.#startedAt = new Date(parts.clock.now())
  }

  get jobs(): Job[] {
    return [
      { name: 'say how this node is', periodMs: beatMs, run: () => this.beat() },
      { name: 'store samples', periodMs: sampleMs, run: () => this.sample() },
      { name: 'forget samples', periodMs: 3_600_000, run: () => this.#forget() },
    ]
  }

  /** Notes the turn of a job. */
  readonly onTurn = ({ name, periodMs, startedAt, durationMs, rows, error }: JobTurn): void => {
    const runs = (this.#jobs.get(name)?.runs ?? 0) + 1
    this.#jobs.set(name, {
      name,
      period_ms: periodMs,
      last_run_at: new Date(startedAt).toISOString(),
      duration_ms: durationMs,
      runs,
      rows,
      error: error === null ? null : error.message,
    })
  }

  /** Registers this node. */
  async arrive(): Promise<void> {
    await this.#save()
  }

  async beat(): Promise<void> {
    this.#lagMs = await this.#probeLag()
    await this.#save()
  }

  async #save(): Promise<void> {
    const { sql, version, beat } = this.#parts
    const figures = { ...(await beat()), lag_ms: this.#lagMs }
    await nodes.saveNode(sql, { id: this.id, host: hostname(), version, started_at: this.#startedAt, figures })
  }

  /** Stores a sample: the growth of each counter since the last one, and the value of each gauge. */
  async sample(): Promise<void> {
    const { sql, read, clock } = this.#parts
    const now = { ...read(), lag_ms: this.#lagMs }
    const last = this.#last
    this.#last = now
    const values = new Map<string, number>()
    for (const name of Object.keys(now) as NodeFigureName[]) {
      const value = figures[name] === 'counter' ? now[name] - (last?.[name] ?? 0) : now[name]
      // NaN: not known yet.
      if (Number.isFinite(value)) values.set(name, value)
    }
    const minute = new Date(Math.floor(clock.now() / sampleMs) * sampleMs)
    await samples.insertSamples(sql, this.id, minute, values)
    await nodes.saveJobs(sql, this.id, [...this.#jobs.values()])
  }

  /** The running nodes; this one first, up to date. */
  async listNodes(): Promise<NodeRow[]> {
    await this.beat()
    return nodes.listNodes(this.#parts.sql, aliveSeconds)
  }

  /** The ids of the other running nodes. */
  async otherNodes(): Promise<string[]> {
    const ids = (await nodes.listNodes(this.#parts.sql, aliveSeconds)).map(({ id }) => id)
    return ids.filter(id => id !== this.id)
  }

  /** The jobs of the nodes: of this one up to date, of others as of a minute ago. */
  async listJobs(): Promise<(JobRow & { node: string })[]> {
    const others = (await nodes.listNodes(this.#parts.sql, aliveSeconds)).filter(({ id }) => id !== this.id)
    const all = [{ id: this.id, jobs: [...this.#jobs.values()] }, ...others]
    return all.flatMap(({ id, jobs }) => jobs.map(job => ({ ...job, node: id })))
  }

  async #forget(): Promise<void> {
    const { sql, clock } = this.#parts
    await samples.removeSamples(sql, new Date(clock.now() - sampleDays * 86_400_000))
    await nodes.removeLostNodes(sql)
  }

  #probeLag(): Promise<number> {
    const startedAt = performance.now()
    return new Promise(resolve => {
      this.#parts.clock.after(lagProbeMs, () => resolve(Math.max(0, performance.now() - startedAt - lagProbeMs)))
    })
  }
}
