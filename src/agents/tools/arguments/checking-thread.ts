import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { takeTasks } from '../../../lib/process/thread.ts'
import type { Checked, CheckTask } from './checker.ts'

/** The most compiled schemas kept; the least recently used are evicted first. A guess. */
const keptSchemas = 500

/** The most faults reported at once. */
const faultLimit = 20

const compiled = new LRUCache<string, ValidateFunction>({ max: keptSchemas })

// The thread of the argument checker. The first schema compiles those of JSON Schema itself, which no task is charged.
check({ schema: '{"type":"object"}', args: {} })
takeTasks(check)

function check({ schema, args }: CheckTask): Checked {
  let validate: ValidateFunction
  try {
    validate = compiled.get(schema) ?? compile(schema)
  } catch (error) {
    return { isSchemaValid: false, faults: [error instanceof Error ? error.message.slice(0, 300) : 'unknown'] }
  }
  const isRight = validate(args)
  return { isSchemaValid: true, faults: isRight ? [] : (validate.errors ?? []).slice(0, faultLimit).map(toFault) }
}

/**
 * A separate instance for each schema, because several may use one `$id`. Nothing is loaded, so references to other
 * schemas fail.
 */
function compile(text: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, logger: false })
  const { $schema: _, ...schema } = JSON.parse(text) as Record<string, unknown>
  const validate = ajv.compile(schema)
  compiled.set(text, validate)
  return validate
}

function toFault({ instancePath, message, params }: ErrorObject): string {
  const allowed = 'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues).slice(0, 300)}` : ''
  return `${instancePath === '' ? 'arguments' : instancePath} ${message}${allowed}`
}
