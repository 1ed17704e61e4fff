import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { invalid } from '../../lib/errors.ts'
import { MomentInput, Timestamp } from '../../api/shape.ts'
import { figureNames } from '../../monitoring/figures.ts'
import { listSeries } from '../../monitoring/sample-store.ts'

/** Points of one answer: more than a screen has columns for. */
const mostPoints = 2_000

const SeriesQuery = z.object({
  name: z.enum(figureNames),
  from: MomentInput.optional().describe('Default: an hour ago'),
  to: MomentInput.optional().describe('Default: now'),
  step: z.coerce
    .number()
    .int()
    .min(60)
    .max(86_400)
    .optional()
    .describe(
      'Seconds that a point stands for; default 60. Counters are added up, others averaged; of some the worst counts',
    ),
  node: z.uuid().optional().describe('Only of this node'),
})

const Series = z.object({ points: z.array(z.array(z.union([Timestamp, z.string(), z.number()]))).optional() }).meta({
  id: 'Series',
  description: 'Points `[time, value]` in the order of time; steps without samples are left out',
})

export const showSeries = route('GET /api/admin/series', {
  summary: 'Get a figure over time, of all nodes: minute by minute for eight days',
  auth: 'key',
  isHeavy: true,
  query: SeriesQuery,
  replies: { 200: Series },
  async handle({ query }, { sql, now }) {
    const to = query.to ?? now()
    const from = query.from ?? new Date(to.getTime() - 3_600_000)
    const stepSeconds = query.step ?? 60
    if ((to.getTime() - from.getTime()) / 1000 / stepSeconds > mostPoints)
      throw invalid({ step: [`must be larger: an answer has ${mostPoints} points at most`] })
    const rows = await listSeries(sql, { name: query.name, from, to, stepSeconds, node: query.node })
    return reply(200, { points: rows.map(({ at, value }) => [at, Math.round(value * 1000) / 1000]) })
  },
})
