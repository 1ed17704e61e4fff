/** Where a text stops being JSON. */
export interface JsonFault {
  /** From 1, as editors count. */
  line: number
  column: number
  /** What belongs there, and what is there instead. */
  expected: string
  found: string
}

type Place = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | 'more' | 'nothing'

const ends: Record<Place, string> = {
  value: 'a value',
  'value or ]': 'a value or ]',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or }',
  ':': 'a colon',
  more: 'a comma',
  nothing: 'the end',
}

const space = 0x20
const quote = 0x22
const backslash = 0x5c
const letterU = 0x75
/** What may follow a backslash, beside u. */
const escapes = new Set(Array.from('"\\/bfnrt', char => char.charCodeAt(0)))

/** Finds the first fault of a text that is not JSON, in linear time, without recursion; null where there is none. */
export function findJsonFault(text: string): JsonFault | null {
  const fault = new Scanner(text).scan()
  return fault && { ...toLine(text, fault.at), expected: fault.expected, found: toFound(text, fault.at) }
}

interface Fault {
  at: number
  expected: string
}

/** Reads a text token by token (RFC 8259). */
class Scanner {
  /** Names and numbers. */
  readonly #word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  readonly #text: string
  readonly #open: ('{' | '[')[] = []
  #place: Place = 'value'
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): Fault | null {
    for (;;) {
      while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++
      if (this.#at >= this.#text.length && this.#place === 'nothing') return null
      const fault = this.#step(this.#text[this.#at])
      if (fault !== null) return fault
    }
  }

  #step(char: string | undefined): Fault | null {
    const inner = this.#open[this.#open.length - 1]
    switch (this.#place) {
      case 'value or ]':
      case 'value':
        if (char === ']' && this.#place === 'value or ]') return this.#close()
        return this.#takeValue(char)
      case 'name or }':
      case 'name':
        if (char === '}' && this.#place === 'name or }') return this.#close()
        return char === '"' ? this.#takeText(':') : this.#refuse()
      case ':':
        return char === ':' ? this.#move(1, 'value') : this.#refuse()
      case 'more':
        if (char === ',') return this.#move(1, inner === '{' ? 'name' : 'value')
        if (char === (inner === '{' ? '}' : ']')) return this.#close()
        return { at: this.#at, expected: `a comma or ${inner === '{' ? '}' : ']'}` }
      case 'nothing':
        return this.#refuse()
    }
  }

  #takeValue(char: string | undefined): Fault | null {
    if (char === '"') return this.#takeText(this.#after)
    if (char === '{' || char === '[') {
      this.#open.push(char)
      return this.#move(1, char === '{' ? 'name or }' : 'value or ]')
    }
    const word = this.#word
    word.lastIndex = this.#at
    return word.test(this.#text) ? this.#move(word.lastIndex - this.#at, this.#after) : this.#refuse()
  }

  #takeText(next: Place): Fault | null {
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === quote) return this.#move(at + 1 - this.#at, next)
      if (code < space) return { at, expected: 'an escape such as \\n' }
      if (code !== backslash) continue
      const escaped = this.#text.charCodeAt(at + 1)
      const isHex = escaped === letterU && /^[\da-fA-F]{4}$/.test(this.#text.slice(at + 2, at + 6))
      if (!isHex && !escapes.has(escaped))
        return { at, expected: 'one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX' }
      at += isHex ? 5 : 1
    }
    return { at: this.#text.length, expected: 'a double quote that ends the text' }
  }

  get #after(): Place {
    return this.#open.length === 0 ? 'nothing' : 'more'
  }

  #move(count: number, next: Place): null {
    this.#at += count
    this.#place = next
    return null
  }

  #close(): null {
    this.#open.pop()
    return this.#move(1, this.#after)
  }

  #refuse(): Fault {
    return { at: this.#at, expected: ends[this.#place] }
  }
}

function isSpace(code: number): boolean {
  return code === space || code === 0x0a || code === 0x0d || code === 0x09
}

function toLine(text: string, at: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) {
    line++
    start = end + 1
  }
  return { line, column: at - start + 1 }
}

function toFound(text: string, at: number): string {
  const point = text.codePointAt(at)
  if (point === undefined) return 'the end of the body'
  return point < 0x20 ? 'a control character' : String.fromCodePoint(point).toWellFormed()
}
