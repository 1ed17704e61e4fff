import { batch } from '../../postgres/batch.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Call, CallResult, Usage } from '../providers/provider.ts'
import { RunLost } from './run.ts'
import type { Lease } from './lease-store.ts'

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
  call_id: string | null
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
    select n, kind, name, call_id, body, outcome, began_at, ended_at from agent_steps where run_id = ${run} order by n`
}

/** Stores a model's answer before any of its calls is made. Throws RunLost. */
export async function insertModelStep(
  sql: Sql,
  { run, node }: Lease,
  { n, body, usage, beganAt }: ModelStep,
): Promise<void> {
  const isRound = body.reason === 'calls' || body.reason === 'pause'
  const { count } = await sql`
    with held as (
      update agent_runs set tokens_in = tokens_in + ${usage.in}, tokens_out = tokens_out + ${usage.out},
        tokens_cached = tokens_cached + ${usage.cached}, rounds = rounds + ${isRound ? 1 : 0}
      where id = ${run} and leased_by = ${node} and state = 'running' returning id
    )
    insert into agent_steps (run_id, n, kind, body, outcome, began_at, ended_at)
    select id, ${n}, 'model', ${JSON.stringify(body)}::text::json, 'ok', ${beganAt}, now() from held`
  if (count === 0) throw new RunLost()
}

/** Counts the tokens of a failed request. */
export async function addUsage(sql: Sql, { run }: Lease, usage: Usage): Promise<void> {
  await sql`
    update agent_runs set tokens_in = tokens_in + ${usage.in}, tokens_out = tokens_out + ${usage.out},
      tokens_cached = tokens_cached + ${usage.cached} where id = ${run}`
}

/** Records a call that is about to be made, for the node that continues after a crash. Throws RunLost. */
export async function insertCallStep(
  sql: Sql,
  { run, node }: Lease,
  { n, kind, name, callId, args }: BegunCall,
): Promise<void> {
  const body: CallBody = { arguments: args }
  const { count } = await sql`
    with held as (
      update agent_runs set calls = calls + 1 where id = ${run} and leased_by = ${node} and state = 'running' returning id
    )
    insert into agent_steps (run_id, n, kind, name, call_id, body, began_at)
    select id, ${n}, ${kind}, ${name}, ${callId}, ${JSON.stringify(body)}::text::json, now() from held
    on conflict (run_id, n) do update set began_at = excluded.began_at`
  if (count === 0) throw new RunLost()
}

/** Stores the result of a call. Throws RunLost. */
export async function endCallStep(sql: Sql, { run, node }: Lease, { n, body, outcome }: EndedCall): Promise<void> {
  const { count } = await sql`
    update agent_steps s set body = ${JSON.stringify(body)}::text::json, outcome = ${outcome}, ended_at = now()
    from agent_runs r
    where s.run_id = ${run} and s.n = ${n} and r.id = s.run_id and r.leased_by = ${node} and r.state = 'running'`
  if (count === 0) throw new RunLost()
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
