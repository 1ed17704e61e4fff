import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { Int, Timestamp } from '../../api/shape.ts'

export const Job = z
  .object({
    node: z.uuid(),
    name: z.string(),
    period: Int.describe('Seconds from one turn to the next'),
    last_run_at: Timestamp,
    duration: z.union([z.string(), z.number()]).describe('Milliseconds that the last turn took'),
    runs: Int.describe('Turns since the node started'),
    rows: Int.optional().describe('Rows that the last turn removed or changed; absent where it does not count them'),
    error: z.string().optional().describe('Why the last turn failed; absent where it did not'),
  })
  .meta({ id: 'Job' })

export const listJobs = route('GET /api/admin/jobs', {
  summary: 'List what nodes do again and again, with its last turn; of other nodes as of a minute ago',
  auth: 'key',
  replies: { 200: z.array(Job) },
  async handle(_, { monitor }) {
    const jobs = await monitor.listJobs()
    return reply(
      200,
      jobs.map(({ period_ms, last_run_at, duration_ms, ...job }) => ({
        ...job,
        period: Math.ceil(period_ms / 1000),
        last_run_at: new Date(last_run_at),
        duration: Math.round(duration_ms * 10) / 10,
      })),
    )
  },
})
