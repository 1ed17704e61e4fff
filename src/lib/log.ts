import { pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** A structured log: facts as fields, then a sentence. Never contains message text, tokens or bodies. */
export interface Log {
  debug(facts: object, sentence: string): void
  info(facts: object, sentence: string): void
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

/**
 * Writes one JSON line for each entry at or above `level`, by default to standard error, in order and synchronously:
 * the last line before an end gives its reason.
 */
export function createLog(level: LogLevel, write: (line: string) => void = line => process.stderr.write(line)): Log {
  const options: pino.LoggerOptions = {
    level,
    // Log collectors add process and machine themselves.
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    serializers: { error: describeError },
  }
  return pino(options, { write })
}

/**
 * The message, stack and code of an error and of its causes. Not its other members, which pino would log: those of
 * PostgreSQL's errors contain rows, and so what users wrote.
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
