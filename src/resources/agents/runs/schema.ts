import { z } from 'zod'
import { runStates } from '../../../agents/runs/run.ts'
import { problem } from '../../../lib/errors.ts'
import { IdQuery, Int, MomentInput, pagedList, Timestamp } from '../../../api/shape.ts'
import { Listing } from '../../../api/page.ts'
import { AppType } from '../../apps/schema.ts'

export const Named = z.object({ id: Int, uid: z.string().optional(), name: z.string().optional() })
const ItemRef = z.object({ type: z.enum(['message', 'post', 'comment']), id: Int })

const runFields = {
  id: Int,
  agent: Named,
  app: z.object({ id: Int, ...AppType, name: z.string().optional() }).optional(),
  item: ItemRef.describe('What it answers'),
  asker: Named,
  state: z.enum(runStates),
  error: z.string().optional(),
  finish: z.string().optional(),
  reply: ItemRef.optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  rounds: Int.optional(),
  calls: Int.optional(),
  attempts: Int.optional(),
  usage: z.object({ input: Int, output: Int, cached: Int }).optional().describe('Tokens'),
  created_at: Timestamp,
  began_at: Timestamp.optional(),
  first_text_at: Timestamp.optional(),
  ended_at: Timestamp.optional(),
  approvals: z.array(Int).optional(),
}

export const Run = z.object(runFields).meta({ id: 'AgentRun' })

const Step = z.object({
  n: Int,
  kind: z.string(),
  name: z.string().optional(),
  outcome: z.string().optional(),
  began_at: Timestamp,
  duration: Int.optional().describe('Milliseconds'),
  arguments: z.unknown().optional().describe('Only with AGENT_TRACE'),
  result: z.unknown().optional(),
})

export const RunDetails = Run.extend({ steps: z.array(Step).optional() }).meta({ id: 'AgentRunDetails' })

export const Runs = pagedList(Run)

export const RunListing = Listing.pick({ skip: true, take: true, count_only: true }).extend({
  state: z.enum(runStates).optional(),
  app: IdQuery.optional(),
  user: IdQuery.optional().describe('Who asked'),
  error: z.string().max(64).optional(),
  since: MomentInput.optional(),
  until: MomentInput.optional(),
})
export type RunListing = z.output<typeof RunListing>

export const OpenRunListing = Listing.pick({ skip: true, take: true, count_only: true })

export const RunPath = z.object({ id: z.string() })
export const RunCancel = z.object({ keep: z.boolean().nullish().describe('Post what was written so far') })

export const NotEnded = problem(409, 'not-ended', 'Only what failed, was cancelled or has expired can be tried again.')

export const UsageQuery = z.object({
  since: MomentInput.optional(),
  until: MomentInput.optional(),
  by: z.enum(['day', 'agent', 'user', 'model']).optional(),
})

export const AgentUsage = z.array(
  z.object({
    key: z.string().describe('The day, the id of the agent or user, or the model'),
    runs: Int,
    errors: Int,
    input: Int,
    output: Int,
    cached: Int,
    p50: Int.optional().describe('Milliseconds from question to reply'),
    p95: Int.optional(),
  }),
)

export const AgentProviders = z.array(
  z.object({ id: z.string(), is_configured: z.boolean(), host: z.string().optional() }),
)
