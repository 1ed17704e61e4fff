import type { Sql } from '../../../postgres/sql.ts'
import type { RunError, RunRow } from '../run.ts'

/** The limits of runs; 0: none. */
export interface RunLimits {
  /** Runs begun within a minute by one asker, and in one app. */
  perUser: number
  perApp: number
  /** Tokens of one agent in a UTC day. */
  tokensPerDay: number
}

/** A refused run; `isTold`: it is the first of several, and gets an error reply. */
export interface OverLimit {
  error: Extract<RunError, 'rate_limited' | 'budget_exceeded'>
  isTold: boolean
}

/**
 * The limit that a new run exceeds, counting the runs of all nodes; null where it may proceed. Refused runs do not
 * count. Served by agent_runs_asker, agent_runs_app_began and agent_runs_agent.
 */
export async function findOverLimit(db: Sql, run: RunRow, limits: RunLimits): Promise<OverLimit | null> {
  // A run that continues after a crash or an approval was admitted before.
  if (run.provider !== null) return null
  const { perUser, perApp, tokensPerDay } = limits
  if (perUser > 0 || perApp > 0) {
    const recent = (column: 'asker_id' | 'app_id', value: number, limit: number) =>
      limit === 0
        ? db`0`
        : db`(select count(*) from (
            select from agent_runs where ${db(column)} = ${value} and began_at > now() - interval '1 minute'
              and id <> ${run.id} and error is distinct from 'rate_limited' limit ${limit}) x)`
    const [counts] = await db<{ user: number; app: number }[]>`
      select ${recent('asker_id', run.asker_id, perUser)} as "user", ${recent('app_id', run.app_id, perApp)} as app`
    const error = 'rate_limited'
    if (perUser > 0 && counts!.user >= perUser) {
      return { error, isTold: await claimNote(db, run, { error, of: 'asker_id', seconds: 60 }) }
    }
    if (perApp > 0 && counts!.app >= perApp) {
      return { error, isTold: await claimNote(db, run, { error, of: 'app_id', seconds: 60 }) }
    }
  }
  if (tokensPerDay === 0) return null
  const [spent] = await db<{ tokens: number }[]>`
    select coalesce(sum(tokens_in + tokens_out), 0)::bigint as tokens from agent_runs where agent_id = ${run.agent_id}
      and began_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'`
  if (spent!.tokens < tokensPerDay) return null
  const error = 'budget_exceeded'
  return { error, isTold: await claimNote(db, run, { error, of: 'conversation', seconds: 3600 }) }
}

interface Note {
  error: OverLimit['error']
  /** The runs that one note is for: those of the asker, of the app, or of the conversation. */
  of: 'asker_id' | 'app_id' | 'conversation'
  /** For how long no other of them is told. */
  seconds: number
}

/**
 * True for the first of several refused runs, on whatever nodes they are: it takes the note for all of them, under a
 * lock, because the runs of a burst are refused at the same time. A run that is worked on again still has it.
 */
async function claimNote(db: Sql, run: RunRow, { error, of, seconds }: Note): Promise<boolean> {
  const value = run[of]
  return await db.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`${error} ${of} ${value}`}, 0))`
    const taken = await tx`
      update agent_runs set note = ${error}
      where id = ${run.id} and not exists (
        select from agent_runs other where other.${tx(of)} = ${value} and other.note = ${error} and other.id <> ${run.id}
          and other.began_at > now() - make_interval(secs => ${seconds}))
      returning id`
    return taken.length > 0
  })
}
