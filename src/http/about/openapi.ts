import { STATUS_CODES } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Auth } from '../../auth/authentication.ts'
import type { ProblemType } from '../../lib/errors.ts'
import { answerHeaders, withHeaders, withProblemHeaders } from './answer-headers.ts'
import { JsonSchemas, type JsonSchema } from './json-schemas.ts'
import { namesOf } from '../router.ts'
import { readExamples, type Example } from './examples.ts'
import { introduction } from './introduction.ts'
import { share } from './shared.ts'
import { describedTags, tagOf } from './tags.ts'
import type { Contract } from '../route.ts'

const ProblemDetails = z
  .looseObject({
    type: z.string().describe('A URI that names the class of the status'),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional().describe('A sentence for people: what is wrong'),
    instance: z.string().optional().describe('Path of the request'),
    code: z.string().optional().describe('Names the reason; it does not change'),
    help: z.string().optional().describe('Path of the page that explains the code'),
    errors: z.record(z.string(), z.array(z.string())).optional().describe('422: names of fields, and what is wrong'),
    request_id: z.string().optional().describe('Names the request in the log of the server; also in X-Request-Id'),
    trace_id: z.string().optional().describe('500: the id under which the server logged what happened'),
  })
  .meta({ id: 'ProblemDetails', description: 'Body of every answer with a status of 400 or above (RFC 9457)' })

const bodyType = 'application/json'

/** What the same JSON may also be called. */
const otherBodyTypes = ['application/json-patch+json', 'text/json', 'application/*+json']

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Chosen by the client: a repeated request with the same key gets the answer to the first, for a day; 404 where ' +
      'the caller may no longer read the app.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`scalars=number`: ids and counts as JSON numbers instead of strings. `handling=strict`: members of the body that ' +
      'are not known here are refused, whatever they are called. `handling=lenient`: nothing unknown is refused.',
    schema: { type: 'string' },
  },
}

const securitySchemes = {
  AccessToken: { type: 'http', scheme: 'bearer', description: 'An access token (`wyu_…`), which acts as one user' },
  HostToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token of the system that the user is signed in to, where AUTH_JWKS_URL, AUTH_SECRET or AUTH_PUBLIC_KEY is set',
  },
  Secret: { type: 'http', scheme: 'bearer', description: 'A token that is part of the configuration' },
  ApiKey: { type: 'http', scheme: 'bearer', description: 'An API key (`wys_…`), for calls from servers' },
  AdminSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-parley',
    description: 'The cookie of the administration page (`parley` where there is no TLS); it counts under /admin alone',
  },
}

const security: Record<Auth, object[]> = {
  'token or key': [{ AccessToken: [] }, { HostToken: [] }, { ApiKey: [] }],
  token: [{ AccessToken: [] }, { HostToken: [] }],
  key: [{ ApiKey: [] }],
  none: [],
  session: [{ AdminSession: [] }],
}

/**
 * The OpenAPI 3.1 document of an API, made from its routes and their schemas, one in a turn of the event loop: all of them
 * take half a second. `payloads`: what webhooks are sent, by trigger.
 */
export async function describeApi(
  routes: readonly Contract[],
  version: string,
  payloads: Readonly<Record<string, z.ZodType>> = {},
): Promise<object> {
  const schemas = new JsonSchemas()
  const examples = readExamples()
  const paths: Record<string, Record<string, object>> = {}
  const known = new Map<string, string>()
  for (const route of routes) {
    // To OpenAPI, `/apps/{app}` and `/apps/{uid}` are one path; the first gives the names.
    const shape = route.path.replaceAll(/\{\w+\}/g, '{}')
    const path = known.get(shape) ?? route.path
    known.set(shape, path)
    const example = examples[`${route.method} ${path}`]
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route, path, schemas, example) }
    await nextTurn()
  }
  const webhooks = Object.fromEntries(
    Object.entries(payloads).map(([trigger, schema]) => [trigger, { post: describeWebhook(trigger, schema, schemas) }]),
  )
  const components = { schemas: schemas.components, parameters: { ...parameters }, responses: {} }
  share(paths, components)
  return {
    openapi: '3.1.1',
    info: { title: 'Parley', version, description: introduction() },
    servers: [{ url: '/' }],
    tags: describedTags,
    paths,
    webhooks,
    components: { ...components, headers: answerHeaders, securitySchemes },
  }
}

function describeWebhook(trigger: string, schema: z.ZodType, schemas: JsonSchemas): object {
  return {
    operationId: `receive${capitalize(trigger)}`,
    summary: `What a webhook with the trigger ${trigger} is sent`,
    description: 'See [webhooks](/docs/webhooks) for the headers, by which a receiver knows who sent it.',
    tags: ['webhooks'],
    requestBody: { required: true, content: { [bodyType]: { schema: schemas.output(schema) } } },
    responses: { '2XX': { description: 'It was received' } },
  }
}

function describe(route: Contract, path: string, schemas: JsonSchemas, example: Example | undefined): object {
  return {
    operationId: toOperationId(route.method, path),
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [tagOf(path)],
    security: typeof route.auth === 'string' ? security[route.auth] : [{ Secret: [] }],
    parameters: [
      ...describePath(route, path, schemas),
      ...describeQuery(route, schemas),
      ...(route.creates === true ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      { $ref: '#/components/parameters/Prefer' },
    ],
    ...(route.body && { requestBody: describeBody(route.body, schemas, example) }),
    ...(route.uploadPart !== undefined && { requestBody: describeForm(route.uploadPart) }),
    responses: {
      ...(route.isDownload === true ? describeDownload() : describeReplies(route, schemas, example)),
      ...describeProblems(route, schemas),
    },
  }
}

function describePath(route: Contract, path: string, schemas: JsonSchemas): object[] {
  const declared = toProperties(route.params && schemas.input(route.params))
  const own = namesOf(route.path)
  return namesOf(path).map((name, i) => {
    const { description, ...schema } = declared[own[i]!] ?? { type: 'string' }
    // Parsed as text, so that a malformed id is not found (404) instead of invalid (422).
    const shown = name === 'id' ? { ...schema, type: 'integer' } : schema
    return { name, in: 'path', required: true, ...(description ? { description } : {}), schema: shown }
  })
}

function describeQuery(route: Contract, schemas: JsonSchemas): object[] {
  if (route.query === undefined) return []
  const whole = schemas.input(route.query)
  const required = (whole.required ?? []) as string[]
  return Object.entries(toProperties(whole)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema,
  }))
}

function toProperties(schema: JsonSchema | undefined): Record<string, JsonSchema> {
  return (schema?.properties ?? {}) as Record<string, JsonSchema>
}

function describeBody(body: z.ZodType, schemas: JsonSchemas, example: Example | undefined): object {
  const others = Object.fromEntries(otherBodyTypes.map(type => [type, {}]))
  const shown = example?.body === undefined ? {} : { example: example.body }
  const content = { [bodyType]: { schema: schemas.input(body), ...shown }, ...others }
  return { required: !body.safeParse({}).success, content }
}

/** The schema of arbitrary bytes. */
const bytes = { type: 'string', contentMediaType: 'application/octet-stream' }

function describeForm(part: string): object {
  const schema = { type: 'object', properties: { [part]: bytes }, required: [part] }
  return { required: true, content: { 'multipart/form-data': { schema } } }
}

/**
 * The replies of a download: a file, the requested part of it, or no body where the client has it (RFC 9110, sections
 * 13 and 14).
 */
function describeDownload(): Record<string, object> {
  const content = { '*/*': { schema: bytes } }
  return {
    200: { description: 'The file', ...withHeaders('Accept-Ranges', 'Content-Disposition', 'ETag'), content },
    206: { description: 'The range of it that was asked for', ...withHeaders('Content-Range', 'ETag'), content },
    304: { description: 'The client has it', ...withHeaders('ETag') },
  }
}

/** True for endpoints of one app, whose answers say where in its history they stand. */
export function isAboutApp({ method, path }: Pick<Contract, 'method' | 'path'>): boolean {
  return appPaths.test(path) || (method === 'POST' && path === '/api/apps')
}

const appPaths = /^\/api\/(apps|messages|posts|comments|files|options)\/\{/

function describeReplies(route: Contract, schemas: JsonSchemas, example: Example | undefined): object {
  const place = isAboutApp(route) ? (['X-Service-Epoch', 'X-Service-Rev'] as const) : []
  const repeated = route.creates === true ? (['Idempotency-Key'] as const) : []
  const replies = Object.entries(route.replies).map(([status, schema]) => {
    const description = STATUS_CODES[Number(status)] ?? ''
    if (schema === null) return [status, { description, ...(place.length > 0 && withHeaders(...place)) }]
    const shown = example?.status === Number(status) && { example: example.answer }
    const content = { schema: schemas.output(schema), ...shown }
    if (schema.def.type === 'string') return [status, { description, content: { 'text/plain': content } }]
    const streamed = route.streams !== undefined && { [route.streams]: { schema: { type: 'string' } } }
    const types = { 'application/json': content, ...streamed }
    const ignoring = route.body === undefined ? [] : (['X-Service-Ignored'] as const)
    const headers = withHeaders(...repeated, 'Preference-Applied', ...place, ...ignoring)
    return [status, { description, ...headers, content: types }]
  })
  return Object.fromEntries(replies)
}

function describeProblems(route: Contract, schemas: JsonSchemas): object {
  const details = new Map<number, string[]>()
  const add = (status: number, detail: string) => details.set(status, [...(details.get(status) ?? []), detail])
  for (const { status, detail } of impliedProblems(route)) add(status, detail)
  for (const { status, detail } of route.problems ?? []) add(status, detail)
  const content = { 'application/problem+json': { schema: schemas.output(ProblemDetails) } }
  const problems = Array.from(details, ([status, texts]) => [
    status,
    { description: [...new Set(texts)].join('\n\n'), ...withProblemHeaders(status), content },
  ])
  return { ...Object.fromEntries(problems), default: { description: 'Any other problem', content } }
}

/** Refusals of the HTTP server itself. */
function impliedProblems(route: Contract): Pick<ProblemType, 'status' | 'detail'>[] {
  const implied: Pick<ProblemType, 'status' | 'detail'>[] = []
  const isWrite = route.method !== 'GET'
  if (route.body) implied.push({ status: 400, detail: 'The body is not JSON.' })
  else if (isWrite) implied.push({ status: 400, detail: 'This makes no sense for what the path names.' })
  if (route.auth !== 'none') implied.push({ status: 401, detail: 'The credential is missing or not valid.' })
  if (route.auth === 'key') implied.push({ status: 403, detail: 'Only an API key may do this.' })
  if (route.auth === 'token or key' && isWrite) implied.push({ status: 403, detail: 'The caller may not do this.' })
  if (route.auth === 'token') implied.push({ status: 403, detail: 'Only an access token may do this.' })
  if (route.isDownload) implied.push({ status: 416, detail: 'The file has no such range of bytes.' })
  if (route.params) implied.push({ status: 404, detail: 'What the path names does not exist, or is not visible.' })
  if (route.body || route.takesAnyQuery !== true)
    implied.push({
      status: 422,
      detail: 'A value was rejected, or a name is not known; `detail` and `errors` name it.',
    })
  return implied
}

/** `POST /api/apps/{app}/messages` → `postAppsByAppMessages`. */
function toOperationId(method: string, path: string): string {
  const words = path
    .replace(/^\/api\//, '/')
    .split(/[/.]/)
    .filter(Boolean)
    .map(segment => (segment.startsWith('{') ? `by_${segment.slice(1, -1)}` : segment))
  return [method.toLowerCase(), ...words.flatMap(word => word.split(/[_-]/)).map(capitalize)].join('')
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
