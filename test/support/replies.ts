import { z } from 'zod'
import { signInRoutes } from '../../src/resources/admin/sign-in/routes.ts'
import { isAboutApp } from '../../src/http/about/openapi.ts'
import { createAboutRoutes } from '../../src/http/about/routes.ts'
import { chooseRepresentation } from '../../src/http/answer/representation.ts'
import { Router } from '../../src/http/router.ts'
import type { Contract } from '../../src/http/route.ts'
import type { Scalars } from '../../src/api/json.ts'
import { Int } from '../../src/api/shape.ts'
import { resources } from '../../src/resources/index.ts'
import type { Answer } from './client.ts'

interface Asked {
  method: string
  /** With the query. */
  path: string
  headers: Record<string, string>
}

/** Throws where an answer is not what the route of its request declares. */
export type ReplyCheck = (asked: Asked, answer: Answer) => void

const Refusal = z.object({
  type: z.url(),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1),
  instance: z.string(),
  code: z.string().regex(/^[a-z0-9-]+$/),
  help: z.string().regex(/^\/docs\/errors#[a-z0-9-]+$/),
  request_id: z.string().min(1),
  errors: z.record(z.string(), z.array(z.string()).min(1)).optional(),
})

/** What is declared, as it is checked. Made once in a process: servers declare the same, and zod compiles each schema. */
const strict = { string: new Map<z.ZodType, z.ZodType>(), number: new Map<z.ZodType, z.ZodType>() }

/**
 * Holds every answer against the reply that its route declares, so that each test is a test of the API's description
 * too. Members that are not declared are errors, numbers in the form that was not asked for, and 422 without a field.
 */
export function createReplyCheck(): ReplyCheck {
  const routes = resources.flatMap(resource => resource.routes)
  // What they answer is described without asking the parts that they are made of.
  const about = createAboutRoutes({
    version: '',
    health: null as never,
    metrics: null as never,
    metricsToken: null,
    description: null as never,
  })
  const router = new Router<Contract>()
  for (const route of [...routes, ...signInRoutes, ...about]) router.add(route.method, route.path, route)

  return ({ method, path, headers }, answer) => {
    const complain = (fault: string) => {
      const body = JSON.stringify(answer.body, null, 2) ?? 'nothing'
      throw new Error(`${method} ${path} answered ${answer.status}: ${fault}\n${body.slice(0, 4_000)}`)
    }
    const [asked = '', query = ''] = path.split('?')
    const route = asked.replace(/^\/admin\/api\//, '/api/')
    if (answer.status >= 400) {
      if (route.startsWith('/api')) checkRefusal(answer, asked, complain)
      return
    }
    const match = router.find(method, route)
    if ('allowed' in match) return
    const hasRev = answer.headers.has('x-service-rev') && answer.headers.has('x-service-epoch')
    if (answer.status < 300 && isAboutApp(match.target) && !hasRev) complain('it does not say where the app is')
    const schema = match.target.replies[answer.status]
    if (schema === undefined) return complain('this status is not declared')
    if (schema === null) return answer.body === undefined ? undefined : complain('no body is declared')
    if (match.target.streams !== undefined && headers.accept === match.target.streams) return
    const { scalars } = chooseRepresentation(
      headers.prefer ?? '',
      headers['x-weavy-source'] ?? '',
      query,
      false,
    ).representation
    const known = strict[scalars].get(schema) ?? toStrict(schema, scalars)
    strict[scalars].set(schema, known)
    const { error } = known.safeParse(answer.body)
    if (error !== undefined) complain(z.prettifyError(error))
  }
}

function checkRefusal({ status, headers, body }: Answer, path: string, complain: (fault: string) => void): void {
  if (headers.get('content-type') !== 'application/problem+json') complain('not a problem')
  const { data, error } = Refusal.safeParse(body)
  if (error !== undefined) return complain(z.prettifyError(error))
  if (data.status !== status) complain('the body says another status')
  if (data.instance !== path) complain('the body names another path')
  if (status === 422 && Object.keys(data.errors ?? {}).length === 0) complain('no field is named')
}

/** As much of zod's own description of a schema as is needed here. */
interface Definition {
  type: string
  shape: Record<string, z.ZodType>
  catchall?: z.ZodType
  element: z.ZodType
  options: z.ZodType[]
  innerType: z.ZodType
}

/** The same shape, with integers in one form and without room for more members; what is declared open stays open. */
export function toStrict(schema: z.ZodType, scalars: Scalars): z.ZodType {
  if (schema === Int) return scalars === 'number' ? z.int() : z.string().regex(/^-?\d+$/)
  const { type, shape, catchall, element, options, innerType } = schema.def as unknown as Definition
  const strictly = (part: z.ZodType) => toStrict(part, scalars)
  switch (type) {
    case 'object': {
      const members = Object.entries(shape).map(([name, member]) => [name, strictly(member)] as const)
      const strict = z.strictObject(Object.fromEntries(members))
      return catchall === undefined ? strict : strict.catchall(catchall)
    }
    case 'array':
      return z.array(strictly(element))
    case 'union':
      return z.union(options.map(strictly))
    case 'optional':
      return strictly(innerType).optional()
    default:
      return schema
  }
}
