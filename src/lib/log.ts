import { inspect } from 'node:util'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Structured lines: facts first, then a sentence. Never message text, tokens or bodies. */
export interface Log {
  debug(facts: object, sentence: string): void
  info(facts: object, sentence: string): void
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

const order: LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Writes one JSON line for each entry at or above `level`. */
export function createLog(level: LogLevel, write: (line: string) => void = line => process.stderr.write(line)): Log {
  const least = order.indexOf(level)
  const at = (name: LogLevel) => (facts: object, sentence: string) => {
    if (order.indexOf(name) < least) return
    write(`${toLine({ time: new Date().toISOString(), level: name, message: sentence }, facts)}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function toLine(head: object, facts: object): string {
  try {
    return JSON.stringify({ ...head, ...facts }, errorsAsText)
  } catch {
    // A circle, or a bigint. A log that throws would bring down what it reports on.
    return JSON.stringify({ ...head, facts: inspect(facts) })
  }
}

/** Errors have no enumerable members; without this they would be logged as `{}`. */
function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const cause = value.cause === undefined ? {} : { cause: value.cause }
  return { name: value.name, message: value.message, stack: value.stack, ...cause }
}
