import { z } from 'zod'
import { Overloaded, overloaded, problem } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Metrics } from './metrics.ts'
import { reply, route, type Route } from '../route.ts'
import type { ApiDescription } from './description.ts'
import type { Health } from './health.ts'

const NodeIsDraining = problem(503, 'node-is-draining', 'This node is about to stop. Others serve.', { retry_after: 1 })

interface AboutParts {
  version: string
  health: Health
  metrics: Metrics
  /** The bearer token that may read the metrics; null: no token is needed. */
  metricsToken: Secret | null
  description: ApiDescription
}

const DescriptionQuery = z.object({
  scalars: z
    .enum(['string', 'number'])
    .optional()
    .describe('Integers of answers are described in this form alone; without it in both'),
})

/** The routes about the node itself; none needs a credential of the API. */
export function createAboutRoutes({ version, health, metrics, metricsToken, description }: AboutParts): Route[] {
  const showVersion = route('GET /version', {
    summary: 'Get the version of the API',
    auth: 'none',
    takesAnyQuery: true,
    replies: { 200: z.string() },
    handle: () => reply(200, version),
  })

  const showCondition = (endpoint: `GET ${string}`, summary: string) =>
    route(endpoint, {
      summary,
      auth: 'none',
      takesAnyQuery: true,
      replies: { 200: z.string() },
      problems: [Overloaded, NodeIsDraining],
      async handle() {
        const condition = await health.check()
        if (condition === 'draining') throw NodeIsDraining()
        if (condition === 'away') throw overloaded(2)
        return reply(200, 'Ok')
      },
    })

  const showLiveness = route('GET /live', {
    summary: 'Ask whether this process runs: a supervisor starts one anew that does not answer',
    auth: 'none',
    takesAnyQuery: true,
    replies: { 200: z.string() },
    handle: () => reply(200, 'Ok'),
  })

  const showMetrics = route('GET /metrics', {
    summary: 'Get the figures of this node for Prometheus',
    auth: metricsToken ?? 'none',
    takesAnyQuery: true,
    replies: { 200: z.string() },
    handle: async () => reply(200, await metrics.text(), { 'Content-Type': metrics.contentType }),
  })

  const showDescription = route('GET /api/openapi.json', {
    summary: 'Get this description of the API',
    description: 'For a generator of types, ask for the form that your program asks numbers in.',
    auth: 'none',
    query: DescriptionQuery,
    replies: { 200: z.record(z.string(), z.unknown()) },
    handle: async ({ query }) => reply(200, await description.json(query.scalars)),
  })

  return [
    showVersion,
    showCondition('GET /status', 'Ask whether the service can serve'),
    showCondition('GET /ready', 'Ask whether this node is to be sent requests: the same as /status, for balancers'),
    showLiveness,
    showMetrics,
    showDescription,
  ]
}
