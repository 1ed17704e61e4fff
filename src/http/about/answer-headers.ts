const texts = {
  'Accept-Ranges': '`bytes` where a part of the file can be asked for',
  'Content-Disposition': 'Whether the file is to be shown or saved, and its name',
  'Content-Range': 'Which part of the file this is; with 416, how large the file is',
  'Idempotency-Key': 'That of the request, where it had one',
  ETag: 'Names the bytes: the same ETag, the same bytes',
  'Preference-Applied': 'Which of the preferences of the request count here, as in `scalars=number, handling=strict`',
  RateLimit:
    'Requests that are left to the user of an access token, and seconds until all of them are: `"default";r=2999;t=1`',
  'RateLimit-Policy': 'Requests that a user has in a minute: `"default";q=3000;w=60`',
  'Retry-After': 'Seconds after which to try again',
  'WWW-Authenticate': '`Bearer`: what is to be sent in Authorization; with `error="invalid_token"` where one was sent',
  'X-Service-Epoch': 'The history of the database that X-Service-Rev belongs to: another one after a restore',
  'X-Service-Ignored':
    'Members of the body that had no effect, as in `colour, options.0.weight`: percent-encoded, at most 20; `...` for more',
  'X-Service-Rev':
    'Where the answer is about one app: all events of the app up to this rev are in it; of a write, the rev of its last event',
}
type Name = keyof typeof texts

/** The response headers, for the components of the OpenAPI document. */
export const answerHeaders = Object.fromEntries(
  Object.entries(texts).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
)

/** The `headers` member of a response's description. */
export function withHeaders(...names: Name[]) {
  const refer = (name: Name) => [name, { $ref: `#/components/headers/${name}` }] as const
  return { headers: Object.fromEntries(names.map(refer)) }
}

/** The `headers` member of a refusal's description, by its status. */
export function withProblemHeaders(status: number) {
  if (status === 401) return withHeaders('WWW-Authenticate')
  if (status === 416) return withHeaders('Content-Range')
  return status === 429 || status === 503 ? withHeaders('Retry-After') : {}
}
