/** `auto`: text where standard error is a terminal, JSON elsewhere. */
export type LogFormat = 'auto' | 'json' | 'text'

/**
 * Writes the lines of a log to standard error: as they are, or as text for people, in colour where the terminal has
 * colours and its user has not turned them off (NO_COLOR).
 */
export function logWriter(format: LogFormat): (line: string) => void {
  const { stderr } = process
  const isText = format === 'text' || (format === 'auto' && stderr.isTTY)
  if (!isText) return line => void stderr.write(line)
  const isColored = stderr.isTTY && stderr.hasColors()
  return line => void stderr.write(toText(line, isColored))
}

interface Entry {
  level: string
  time: string
  message?: string
  error?: Fault
  [fact: string]: unknown
}

interface Fault {
  message?: unknown
  stack?: unknown
  cause?: Fault
}

/** Select Graphic Rendition (ECMA-48) by level; what else is printed is dim or as it is. */
const colors: Record<string, number> = { debug: 90, info: 32, warn: 33, error: 31 }
const dim = 2

/** A JSON line of the log as text: time of day, level, sentence and facts, and below them the stacks of errors. */
export function toText(line: string, isColored: boolean): string {
  const paint = (code: number, text: string) => (isColored && text !== '' ? `\x1b[${code}m${text}\x1b[0m` : text)
  const { level, time, message = '', error, ...facts } = JSON.parse(line) as Entry
  const told = Object.entries(facts).map(([name, value]) => `${name}=${show(value)}`)
  const head = [
    paint(dim, timeOfDay(time)),
    paint(colors[level] ?? dim, level.toUpperCase().padEnd(5)),
    printable(message),
    paint(dim, printable(told.join(' '))),
  ]
  return `${head.filter(part => part !== '').join(' ')}\n${stacksOf(error)
    .map(stack => `${paint(dim, stack)}\n`)
    .join('')}`
}

/** In the zone of whoever looks at the terminal. */
function timeOfDay(time: string): string {
  const at = new Date(time)
  const parts = [at.getHours(), at.getMinutes(), at.getSeconds()].map(part => String(part).padStart(2, '0'))
  return `${parts.join(':')}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

function show(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}

/** The stack of an error and of its causes, indented; an error without one is its message. */
function stacksOf(error: Fault | undefined, label = ''): string[] {
  if (error === undefined) return []
  if (typeof error !== 'object' || error === null) return [`    ${label}${printable(show(error))}`]
  const text = typeof error.stack === 'string' ? error.stack : show(error.message ?? error)
  const lines = text.split('\n').map((one, i) => `    ${i === 0 ? label : ''}${printable(one)}`)
  return [lines.join('\n'), ...stacksOf(error.cause, 'caused by ')]
}

/** A name or address in a fact must not steer the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, found => `\\u${found.codePointAt(0)!.toString(16).padStart(4, '0')}`)
}
