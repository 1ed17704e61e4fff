/** How often progress is shown: on a terminal in place, elsewhere (such as a timer's log) in a new line. */
const terminalMs = 500
const logMs = 10_000

/** Shows the operator on standard error what is being done, how much, and how fast. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY
  readonly #startedAt = Date.now()
  #shownAt = Date.now()
  #bytes = 0
  #count = 0
  #hasLine = false

  /** Counts further bytes of `what`. */
  add(what: string, bytes: number): void {
    this.#bytes += bytes
    this.#show(seconds => `${what}: ${toSize(this.#bytes)} in all, ${toSize(this.#bytes / seconds)}/s`)
  }

  /** Counts further `things` of `what`. */
  count(what: string, count: number, things: string): void {
    this.#count += count
    this.#show(seconds => `${what}: ${this.#count} ${things} in all, ${Math.round(this.#count / seconds)}/s`)
  }

  #show(toLine: (seconds: number) => string): void {
    if (Date.now() - this.#shownAt < (this.#isTerminal ? terminalMs : logMs)) return
    this.#shownAt = Date.now()
    const line = toLine((Date.now() - this.#startedAt) / 1000)
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${line}` : `${line}\n`)
    this.#hasLine = this.#isTerminal
  }

  /** Prints a line that remains. */
  say(line: string): void {
    process.stderr.write(`${this.#hasLine ? '\r\x1b[K' : ''}${line}\n`)
    this.#hasLine = false
  }
}

export function toSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
