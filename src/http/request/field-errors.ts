import type { z } from 'zod'
import { invalid, type FieldErrors } from '../../lib/errors.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

/** The most fields that a refusal names. */
const fieldLimit = 50

/**
 * Parses a value by a schema. 422 that names the fields, joined by dots, in words for people; `whole` names the value
 * itself. `refused`: what else is wrong with it.
 */
export function check<Output>(schema: z.ZodType<Output>, value: unknown, whole: string, refused?: FieldErrors): Output {
  const result = parse(schema, value)
  if (result.success && refused === undefined) return result.data
  throw invalid({ ...refused, ...(!result.success && toFieldErrors(result.error.issues, whole)) })
}

/**
 * Zod compares the `length` of any value with the bounds of text or arrays, even an object's, and throws where that is
 * an object and not a number. No such value is valid, so it is validated without its length.
 */
function parse<Output>(schema: z.ZodType<Output>, value: unknown) {
  try {
    return schema.safeParse(value, { error: toText })
  } catch (error) {
    const result = schema.safeParse(withoutLengths(value), { error: toText })
    if (result.success) throw error
    return result
  }
}

function withoutLengths(value: unknown): unknown {
  const hasOddLength = (key: string, inner: unknown) => key === 'length' && typeof inner === 'object'
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => (hasOddLength(key, inner) ? undefined : inner))
}

function toFieldErrors(issues: readonly Issue[], whole: string): FieldErrors {
  const fields = new Map<string, Set<string>>()
  for (const issue of issues) collect(issue, [], fields, whole)
  return Object.fromEntries(Array.from(fields, ([name, texts]) => [name, [...texts]]))
}

function collect(issue: Issue, base: readonly PropertyKey[], fields: Map<string, Set<string>>, whole: string): void {
  const path = [...base, ...issue.path]
  const best = issue.code === 'invalid_union' ? pickBranch(issue.errors) : undefined
  if (best !== undefined) {
    for (const inner of best) collect(inner, path, fields, whole)
    return
  }
  const name = path.map(String).join('.') || whole
  if (!fields.has(name) && fields.size >= fieldLimit) return
  fields.set(name, (fields.get(name) ?? new Set()).add(issue.message))
}

/** The alternative that the value is closest to: right type, wrong value. */
function pickBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const isWrongType = ({ code, path }: Issue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
  return branches.find(issues => !issues.some(isWrongType))
}

const nouns: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
  null: 'null',
}

const formats: Record<string, string> = {
  email: 'is not an e-mail address',
  url: 'is not a URL',
  uuid: 'is not a UUID',
  guid: 'is not a GUID',
  datetime: 'is not an ISO 8601 date and time',
  date: 'is not an ISO 8601 date',
  emoji: 'is not an emoji',
  base64: 'is not base64',
  json_string: 'is not JSON',
}

function toText(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${nouns[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${toChoice(issue.values)}`
    case 'invalid_format':
      return formats[issue.format] ?? 'has the wrong form'
    case 'too_small':
      return toBound(issue.origin, 'at least', Number(issue.minimum))
    case 'too_big':
      return toBound(issue.origin, 'at most', Number(issue.maximum))
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return toUnionText(issue)
    case 'unrecognized_keys':
      return `must not have ${issue.keys.join(', ')}`
    default:
      return 'is not valid'
  }
}

function toBound(origin: string, bound: 'at least' | 'at most', limit: number): string {
  if (bound === 'at least' && limit === 1 && origin !== 'number' && origin !== 'int') return 'must not be empty'
  if (origin === 'string') return `must have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${limit} ${limit === 1 ? 'item' : 'items'}`
  return `must be ${bound} ${limit}`
}

function toUnionText(issue: Extract<RawIssue, { code: 'invalid_union' }>): string {
  if (issue.input === undefined) return 'is required'
  const expected = issue.errors.flat().flatMap(inner => {
    if (inner.code === 'invalid_type') return [nouns[inner.expected] ?? inner.expected]
    return inner.code === 'invalid_value' ? inner.values.map(String) : []
  })
  return expected.length === 0 ? 'is not valid' : `must be ${toChoice([...new Set(expected)])}`
}

/** `a, b or c`. */
export function toChoice(values: readonly unknown[]): string {
  const texts = values.map(String)
  return texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`
}
