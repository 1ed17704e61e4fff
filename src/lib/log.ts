import { pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Structured lines: facts first, then a sentence. Never message text, tokens or bodies. */
export interface Log {
  debug(facts: object, sentence: string): void
  info(facts: object, sentence: string): void
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

/**
 * Writes one JSON line for each entry at or above `level`. By default to standard error, in order and at once: the last
 * line before an end says why.
 */
export function createLog(level: LogLevel, write: (line: string) => void = line => process.stderr.write(line)): Log {
  const options: pino.LoggerOptions = {
    level,
    // Process and machine are what a collector adds by itself.
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    serializers: { error: describeError },
  }
  return pino(options, { write })
}

/**
 * What an error says of itself, and its causes. Not its other members, as pino would by itself: those of PostgreSQL's
 * errors hold rows, and so what people wrote.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code } = error as { code?: unknown }
  return {
    name,
    message,
    ...(typeof code === 'string' && { code }),
    stack,
    ...(cause !== undefined && { cause: describeError(cause) }),
  }
}
