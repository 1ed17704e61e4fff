import { z } from 'zod'
import { Json } from '../../api/json.ts'
import { Overloaded, overloaded, problem } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Metrics } from './metrics.ts'
import { describeApi } from './openapi.ts'
import { reply, route, type Contract, type Route } from '../route.ts'
import type { Health } from './health.ts'
import { createReferenceRoutes } from './reference.ts'

const NodeIsDraining = problem(503, 'node-is-draining', 'This node is about to stop. Others serve.', { retry_after: 1 })

interface AboutParts {
  version: string
  health: Health
  metrics: Metrics
  /** The bearer token that may read the metrics; null: no token is needed. */
  metricsToken: Secret | null
  /** The routes to describe, beside these. */
  routes: readonly Contract[]
}

/** The routes about the node itself; none needs a credential of the API. */
export function createAboutRoutes({ version, health, metrics, metricsToken, routes }: AboutParts): Route[] {
  let description: Json | undefined

  const showVersion = route('GET /version', {
    summary: 'Get the version of the API',
    auth: 'none',
    replies: { 200: z.string() },
    handle: () => reply(200, version),
  })

  const showCondition = (endpoint: `GET ${string}`, summary: string) =>
    route(endpoint, {
      summary,
      auth: 'none',
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
    replies: { 200: z.string() },
    handle: () => reply(200, 'Ok'),
  })

  const showMetrics = route('GET /metrics', {
    summary: 'Get the figures of this node for Prometheus',
    auth: metricsToken ?? 'none',
    replies: { 200: z.string() },
    handle: async () => reply(200, await metrics.text(), { 'Content-Type': metrics.contentType }),
  })

  const showDescription = route('GET /api/openapi.json', {
    summary: 'Get this description of the API',
    auth: 'none',
    replies: { 200: z.record(z.string(), z.unknown()) },
    handle() {
      description ??= new Json(JSON.stringify(describeApi([...routes, ...about], version)))
      return reply(200, description)
    },
  })

  const about = [
    showVersion,
    showCondition('GET /status', 'Ask whether the service can serve'),
    showCondition('GET /ready', 'Ask whether this node is to be sent requests: the same as /status, for balancers'),
    showLiveness,
    showMetrics,
    showDescription,
    ...createReferenceRoutes(),
  ]
  return about
}
