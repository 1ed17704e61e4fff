import { invalid } from '../lib/errors.ts'

/** What a number may look like that a double does not keep: sixteen digits, an exponent, or a sign before zero. */
const risky = /[\d.]{16}|\d[eE][-+]?\d|-0(?!\d)/
/** The end of a member's name, or what looks like it within a text. */
const nameEnd = /"\s*:/g

/**
 * Throws 422 where parsing has changed what the JSON text says: numbers that a double does not keep, `-0`, and names that
 * an object has twice. `value` is what was parsed. A text without anything that looks so, nearly every one, is searched
 * twice and not scanned.
 */
export function requireFaithful(text: string, value: unknown): void {
  const names = text.match(nameEnd)?.length ?? 0
  if (risky.test(text) || names !== countMembers(value)) new Scan(text).check()
}

/** The members of all objects in a value. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (const element of value) members += countMembers(element)
    return members
  }
  for (const name in value) members += 1 + countMembers((value as Record<string, unknown>)[name])
  return members
}

const blank = /[ \t\n\r]*/y
const scalar = /[^\s,\]}]+/y

/** Goes through the text of a value that is known to be JSON, and nested no deeper than the stack allows. */
class Scan {
  readonly #text: string
  readonly #path: string[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  check(): void {
    const first = this.#next()
    if (first === '{') return this.#checkMembers()
    if (first === '[') return this.#checkElements()
    if (first === '"') return void this.#readText()
    scalar.lastIndex = this.#at
    const [source] = scalar.exec(this.#text)!
    if (/\d$/.test(source) && !isExact(source)) this.#refuse(toReason(source), this.#at)
    this.#at += source.length
  }

  #checkMembers(): void {
    const names = new Set<string>()
    while (this.#step() !== '}') {
      this.#next()
      const start = this.#at
      const name = this.#readText()
      this.#path.push(name)
      if (names.has(name)) this.#refuse('is there twice', start)
      names.add(name)
      this.#next()
      this.#at++
      this.check()
      this.#path.pop()
    }
    this.#at++
  }

  #checkElements(): void {
    for (let place = 0; this.#step() !== ']'; place++) {
      this.#path.push(String(place))
      this.check()
      this.#path.pop()
    }
    this.#at++
  }

  /** Goes to the next member or element, or to the end of them. */
  #step(): string {
    const next = this.#next()
    if (next === ']' || next === '}') return next
    // An opening bracket, or a comma; an empty object or array ends behind it.
    this.#at++
    return this.#next()
  }

  #next(): string {
    blank.lastIndex = this.#at
    blank.test(this.#text)
    this.#at = blank.lastIndex
    return this.#text[this.#at]!
  }

  #readText(): string {
    const start = this.#at
    do this.#at = this.#text.indexOf('"', this.#at + 1)
    while (isEscaped(this.#text, this.#at))
    this.#at++
    return JSON.parse(this.#text.slice(start, this.#at)) as string
  }

  #refuse(reason: string, at: number): never {
    throw invalid({ [this.#path.join('.') || 'body']: [`${reason} (at character ${at + 1} of the body)`] })
  }
}

function isEscaped(text: string, at: number): boolean {
  let escapes = 0
  while (text[at - 1 - escapes] === '\\') escapes++
  return escapes % 2 === 1
}

function toReason(source: string): string {
  if (/^-[0.]+(?:e|$)/i.test(source)) return 'must not be -0, which is kept as 0'
  return 'must be a number that a double keeps exactly: send others as text'
}

/** True where a number's text has the value that it is written out with. */
function isExact(source: string): boolean {
  const value = Number(source)
  if (value === 0 && source.startsWith('-')) return false
  return Number.isFinite(value) && toDecimal(source) === toDecimal(String(value))
}

/** A number without its sign in one form, `digits e exponent`. Zero has no digits. */
function toDecimal(text: string): string {
  const [, whole, fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text)!
  const digits = whole! + fraction
  let [start, end] = [0, digits.length]
  while (digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  if (start === end) return ''
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}
