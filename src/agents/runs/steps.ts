import { batch } from '../../postgres/batch.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Call, CallResult, Usage } from '../providers/provider.ts'

export type CallKind = 'function' | 'mcp' | 'search'
export type StepKind = 'model' | CallKind

/** The stored answer of a model: the provider's body, and what the run continues with. */
export interface ModelBody {
  provider: string
  blocks: unknown
  text: string
  reason: 'stop' | 'calls' | 'length' | 'filtered' | 'pause'
  calls: Call[]
  sources: { url: string; title: string }[]
}

/** A stored call; result and the rest are set when it has ended. */
export interface CallBody {
  arguments: unknown
  result?: string
  isError?: boolean
  images?: { image: string; type: string }[]
  /** Files of the passages in the result. */
  files?: number[]
}

/** A row of `agent_steps`. */
export interface StepRow {
  n: number
  kind: StepKind
  name: string | null
  body: unknown
  outcome: 'ok' | 'error' | 'unknown' | null
  began_at: Date
  ended_at: Date | null
}

/** A model's answer to be stored. */
export interface ModelStep {
  n: number
  body: ModelBody
  usage: Usage
  beganAt: Date
}

export interface BegunCall {
  n: number
  kind: CallKind
  name: string
  callId: string
  args: unknown
}

export interface EndedCall {
  n: number
  body: CallBody
  outcome: 'ok' | 'error' | 'unknown'
}

/** The steps of a run in their order. */
export function listSteps(sql: Sql, run: number): Promise<StepRow[]> {
  return sql<StepRow[]>`
    select n, kind, name, body, outcome, began_at, ended_at from agent_steps where run_id = ${run} order by n`
}

/** Deletes the content of steps of runs that end; the posted answer remains. */
export const emptySteps = batch({
  name: 'empty_agent_steps',
  columns: { run_id: 'bigint' },
  key: row => row.run_id,
  sql: rows => `update agent_steps s set body = null from ${rows} r where s.run_id = r.run_id`,
})

/** Deletes the content of steps of runs that ended otherwise, of `limit` at most; returns how many. */
export async function emptyEnded(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    update agent_steps set body = null where (run_id, n) in (
      select s.run_id, s.n from agent_steps s join agent_runs r on r.id = s.run_id
      where s.body is not null and r.state not in ('queued', 'running', 'waiting') limit ${limit})`
  return count
}

/** The results of calls as a provider gets them. */
export function toResult(call: Call, { result = '', isError = false, images }: CallBody): CallResult {
  const { id, name } = call
  const shown = images?.map(({ image, type }) => ({ image: Buffer.from(image, 'base64'), type }))
  return { id, name, text: result, isError, ...(shown && { images: shown }) }
}
