import { formatCode, nameOf, toComment, toDeclaration, toType, type Schema } from './typescript.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

interface Operation {
  summary?: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, Response | Reference>
}

interface Response {
  content?: Record<string, { schema?: Schema }>
}

interface Reference {
  $ref: string
}

interface Components {
  schemas: Record<string, Schema>
  parameters: Record<string, Parameter>
  responses: Record<string, Response>
}

export interface Description {
  paths: Record<string, Record<string, Operation>>
  components: Components
}

/** The types of the API's requests and answers, from its description. */
export function toHttpTypes({ paths, components }: Description): Promise<string> {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => toDeclaration(name, schema))
  const shared = Object.entries(components.parameters).filter(([key, one]) => isShared(key, one))
  const parameters = `{ ${shared.map(([, one]) => toParameter(one)).join('\n')} }`
  const entries = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/') && !path.startsWith('/api/docs'))
    .map(([path, methods]) => {
      const operations = Object.entries(methods).map(one => toOperation(one, components))
      return `'${path}': { ${operations.join('\n')} }`
    })
  return formatCode(
    `${schemas.join('\n\n')}

    /** Parameters that several lists have. */
    interface Shared ${parameters}

    export interface Paths {\n${entries.join('\n')}\n}`,
  )
}

/** Of several parameters with one name, the description calls the first by its name alone. */
function isShared(key: string, { name, in: place }: Parameter): boolean {
  return place === 'query' && key === name
}

function toOperation(
  [method, { summary, parameters = [], requestBody, responses }]: [string, Operation],
  components: Components,
): string {
  const path = parameters.map(one => resolve(one, components.parameters)).filter(one => one.in === 'path')
  const members = [
    path.length > 0 && `path: { ${path.map(({ name }) => `${name}: string | number`).join('; ')} }`,
    toQuery(parameters, components),
    requestBody && toBody(requestBody),
    `answer: ${toAnswer(responses, components)}`,
  ]
  return `${summary ? `/** ${summary} */\n` : ''}${method}: { ${members.filter(Boolean).join('\n')} }`
}

function toQuery(parameters: (Parameter | Reference)[], components: Components): string {
  const query = parameters.filter(one => resolve(one, components.parameters).in === 'query')
  const isOfAll = (one: Parameter | Reference) =>
    '$ref' in one && isShared(nameOf(one.$ref), resolve(one, components.parameters))
  const shared = query.filter(isOfAll).map(one => JSON.stringify(resolve(one, components.parameters).name))
  const own = query.filter(one => !isOfAll(one)).map(one => resolve(one, components.parameters))
  const types = [
    ...(shared.length > 0 ? [`Pick<Shared, ${shared.join(' | ')}>`] : []),
    ...(own.length > 0 ? [`{ ${own.map(toParameter).join('\n')} }`] : []),
  ]
  const isRequired = query.some(one => resolve(one, components.parameters).required)
  return types.length === 0 ? '' : `query${isRequired ? '' : '?'}: ${types.join(' & ')}`
}

/** What several operations have in common is written once, and referred to. */
function resolve<Part extends object>(part: Part | Reference, shared: Record<string, Part>): Part {
  return '$ref' in part ? shared[nameOf(part.$ref)]! : part
}

function toParameter({ name, required, description, schema }: Parameter): string {
  return `${toComment(description)}${name}${required ? '' : '?'}: ${toQueryType(schema)} | undefined`
}

function toQueryType(schema: Schema): string {
  if (schema.enum?.includes('true')) return schema.enum.length > 2 ? "boolean | 'null'" : 'boolean'
  if (schema.enum) return toType(schema, 'in')
  return schema.items ? 'readonly (string | number)[]' : 'string | number'
}

function toBody({ required, content }: NonNullable<Operation['requestBody']>): string {
  const json = content['application/json']
  return `body${required ? '' : '?'}: ${json ? toType(json.schema, 'in') : 'FormData'}`
}

function toAnswer(responses: Operation['responses'], components: Components): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const types = good.map(([, response]) => {
    const { content = {} } = resolve(response, components.responses)
    const { schema } = content['application/json'] ?? {}
    return schema ? toType(schema, 'out') : Object.keys(content).length > 0 ? 'string' : 'undefined'
  })
  return [...new Set(types)].join(' | ') || 'undefined'
}
