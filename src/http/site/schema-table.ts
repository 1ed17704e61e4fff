import { escapeHtml } from './markdown.ts'

/** As much of a JSON schema as the description of the API uses. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  maxLength?: number
  maxItems?: number
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

interface Media {
  schema?: Schema
  example?: unknown
}

export interface Response {
  description: string
  content?: Record<string, Media>
}

export interface OperationParts {
  operationId: string
  summary: string
  description?: string
  tags: [string]
  security: Record<string, unknown>[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response | { $ref: string }>
}

/** As much of the OpenAPI description as pages show. */
export interface Description {
  info: { description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OperationParts>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Response>
  }
}

/** Renders Markdown. */
export type ToHtml = (text: string) => string

/** What a reference points at. */
export function resolve<It extends object>(it: It | { $ref: string }, known: Record<string, It>): It {
  return '$ref' in it ? known[nameOf(it.$ref)]! : it
}

/** All shared schemas, each with its members. */
export function showSchemas({ components: { schemas } }: Description, toHtml: ToHtml): string {
  return Object.entries(schemas)
    .map(
      ([name, schema]) =>
        `<section class="operation" id="${name}">\n<h2>${name}</h2>\n${toHtml(schema.description ?? '')}\n${showMembers(schema, toHtml)}</section>`,
    )
    .join('\n')
}

/** A table of the members of an object, members of members included; otherwise the type. */
export function showMembers(schema: Schema, toHtml: ToHtml): string {
  const rows = toRows(schema, '', toHtml)
  return rows.length === 0 ? `<p>${toType(schema)}</p>` : toTable(rows)
}

/** The same for parameters. */
export function showParameters(parameters: readonly Parameter[], toHtml: ToHtml): string {
  return toTable(
    parameters.map(({ name, in: place, required = false, description, schema }) =>
      toRow(name, schema, required, description, toHtml, place),
    ),
  )
}

function toTable(rows: readonly string[]): string {
  return `<div class="wide fields" role="group" aria-label="Table" tabindex="0"><table><thead><tr><th>Name</th><th>Meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

/** Deeper members are in the schema of the answer, or shown by the example. */
const deepest = 2

function toRows(schema: Schema, prefix: string, toHtml: ToHtml, depth = 0): string[] {
  const { properties, required = [], items } = plain(schema)
  if (items !== undefined && properties === undefined) return toRows(items, prefix, toHtml, depth)
  return Object.entries(properties ?? {}).flatMap(([name, member]) => {
    const row = toRow(`${prefix}${name}`, member, required.includes(name), member.description, toHtml)
    return depth >= deepest ? [row] : [row, ...toRows(member, `${prefix}${name}.`, toHtml, depth + 1)]
  })
}

function toRow(
  name: string,
  schema: Schema,
  isRequired: boolean,
  description: string | undefined,
  toHtml: ToHtml,
  place = '',
): string {
  const facts = [place, toType(schema), isRequired ? 'required' : ''].filter(Boolean).join(', ')
  const text = description ?? plain(schema).description ?? ''
  const meaning = text === 'An integer, as a string by default' ? '' : toHtml(text)
  return `<tr><td><code>${escapeHtml(name)}</code></td><td><span class="type">${facts}</span>${meaning}</td></tr>`
}

/** Without `null` beside it. */
function plain(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  return others.length === 1 ? { ...others[0], ...(schema.description && { description: schema.description }) } : schema
}

/** `array of strings`, with a link where the type has a name. */
export function toType(schema: Schema): string {
  const { $ref, type, enum: values, const: value, items, anyOf, oneOf, allOf, format, maxLength } = schema
  if ($ref !== undefined) return `<a href="/api/docs/shapes#${nameOf($ref)}">${nameOf($ref)}</a>`
  const choices = anyOf ?? oneOf ?? allOf
  if (choices !== undefined) return [...new Set(choices.map(toType))].join(allOf === undefined ? ' or ' : ' and ')
  if (value !== undefined) return `<code>${escapeHtml(String(value))}</code>`
  if (values !== undefined) return values.map(one => `<code>${escapeHtml(String(one))}</code>`).join(' ')
  if (Array.isArray(type)) return type.includes('integer') ? 'integer' : type.join(' or ')
  if (type === 'array') return `array of ${items === undefined ? 'anything' : toType(items)}`
  if (type === 'string' && format !== undefined) return escapeHtml(format)
  return `${type ?? 'anything'}${maxLength === undefined ? '' : `, at most ${maxLength} characters`}`
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}
