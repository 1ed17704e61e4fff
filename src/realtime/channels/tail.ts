/** An encoded event. */
export interface Line {
  readonly rev: number
  /** Under which it was published. */
  readonly topic: string
  readonly bytes: Uint8Array
}

/** What an entry takes beside its bytes. Measured: an object, its view on a buffer, two array slots. */
const entryBytes = 200

/** The newest events of one app in one form, oldest first: complete after `start`, up to what was fanned out. */
export class Tail {
  #start: number
  #lines: Line[] = []
  #dropped = 0

  constructor(start: number) {
    this.#start = start
  }

  /** Every event told after this rev is here. */
  get start(): number {
    return this.#start
  }

  get length(): number {
    return this.#lines.length - this.#dropped
  }

  push(line: Line): void {
    this.#lines.push(line)
  }

  /** Puts events before the others; they must reach from `start` to where the tail has begun so far. */
  prepend(start: number, lines: readonly Line[]): void {
    this.#lines = [...lines, ...this.#lines.slice(this.#dropped)]
    this.#dropped = 0
    this.#start = start
  }

  /** Takes the oldest event out. */
  shift(): Line | undefined {
    const line = this.#lines[this.#dropped]
    if (line === undefined) return undefined
    this.#start = line.rev
    this.#dropped++
    // Moving everything for each one would cost more than the memory of a few that are gone.
    if (this.#dropped > 64 && this.#dropped * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#dropped)
      this.#dropped = 0
    }
    return line
  }

  /** The events after `rev`, which must not be before `start`. */
  *after(rev: number): Iterable<Line> {
    let at = this.#lines.length
    while (at > this.#dropped && this.#lines[at - 1]!.rev > rev) at--
    for (; at < this.#lines.length; at++) yield this.#lines[at]!
  }
}

/**
 * All tails of this node under one budget: when it is exceeded, the event that was added longest ago goes first,
 * whichever app it belongs to. Only memory; what is not here is read from the log.
 */
export class Tails {
  readonly #limitBytes: number
  /** One entry for each line, in order of adding: the tail whose oldest line goes when it is the entry's turn. */
  #queue: Tail[] = []
  #taken = 0
  #lines = 0
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  push(tail: Tail, line: Line): void {
    tail.push(line)
    this.#add(tail, line)
    this.#trim()
  }

  prepend(tail: Tail, start: number, lines: readonly Line[]): void {
    tail.prepend(start, lines)
    for (const line of lines) this.#add(tail, line)
    this.#trim()
  }

  /** Empties a tail: what is told from now on may be added to it. */
  drop(tail: Tail): void {
    while (this.#shift(tail));
  }

  #add(tail: Tail, line: Line): void {
    this.#lines++
    this.#bytes += entryBytes + line.bytes.byteLength
    this.#queue.push(tail)
  }

  #shift(tail: Tail): boolean {
    const line = tail.shift()
    if (line === undefined) return false
    this.#lines--
    this.#bytes -= entryBytes + line.bytes.byteLength
    return true
  }

  #trim(): void {
    while (this.#bytes > this.#limitBytes && this.#taken < this.#queue.length) this.#shift(this.#queue[this.#taken++]!)
    // Entries of tails that were dropped do no harm, but they must not pile up.
    if (this.#queue.length > 1_024 && this.#queue.length > this.#lines * 2) this.#sweep()
  }

  #sweep(): void {
    const left = new Map<Tail, number>()
    const kept: Tail[] = []
    for (let i = this.#taken; i < this.#queue.length; i++) {
      const tail = this.#queue[i]!
      const count = left.get(tail) ?? tail.length
      if (count > 0) kept.push(tail)
      left.set(tail, count - 1)
    }
    this.#queue = kept
    this.#taken = 0
  }
}
