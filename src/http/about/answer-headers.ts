const texts = {
  'Accept-Ranges': '`bytes` where a part of the file can be asked for',
  'Content-Disposition': 'Whether the file is to be shown or saved, and its name',
  'Content-Range': 'Which part of the file this is; with 416, how large the file is',
  ETag: 'Names the bytes: the same ETag, the same bytes',
  'Preference-Applied': '`scalars=number` where numbers were asked for',
  'Retry-After': 'Seconds after which to try again',
  'WWW-Authenticate': '`Bearer`: what is to be sent in Authorization',
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
