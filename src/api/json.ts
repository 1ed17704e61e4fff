import { setImmediate as nextTurn } from 'node:timers/promises'

/** How a response writes numbers: as strings, the API's default, or as JSON numbers for clients that ask for them. */
export type Scalars = 'string' | 'number'

/** JSON text that is written as it is: free-form metadata, or a part that was encoded before. */
export class Json {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The whole JSON of an answer in bytes, cached for the next request. */
export class Encoded {
  readonly bytes: Uint8Array

  constructor(written: string | Uint8Array) {
    this.bytes = typeof written === 'string' ? Buffer.from(written) : written
  }
}

/** An immutable object that is written often: its text is made once for each form of numbers. */
export class Fixed {
  readonly #value: object
  #strings: string | undefined
  #numbers: string | undefined

  constructor(value: object) {
    this.#value = value
  }

  text(quoted: boolean): string {
    if (quoted) return (this.#strings ??= flatten(`{${writeMembers(this.#value, true)}}`))
    return (this.#numbers ??= flatten(`{${writeMembers(this.#value, false)}}`))
  }
}

const anything = /./

/**
 * Makes one flat string of a text that V8 keeps as a tree of its parts, and would walk again for each answer that
 * contains it: sending one took 1.2 us instead of 0.3 (measured).
 */
function flatten(text: string): string {
  // Matching a pattern needs the text in one piece, and V8 keeps it so.
  anything.test(text)
  return text
}

/** An object with the members of several, such as the shared and the user-specific members of an item. */
export class Extended {
  readonly #pieces: readonly object[]

  constructor(...pieces: object[]) {
    this.#pieces = pieces
  }

  text(quoted: boolean): string {
    let text = ''
    for (const piece of this.#pieces) {
      const members = piece instanceof Fixed ? piece.text(quoted).slice(1, -1) : writeMembers(piece, quoted)
      if (members !== '') text += text === '' ? members : `,${members}`
    }
    return `{${text}}`
  }
}

/** Wraps free-form values (metadata), whose numbers and nulls must not be rewritten. */
export function verbatim(value: unknown): Json | null {
  return value === null || value === undefined ? null : new Json(JSON.stringify(value))
}

/**
 * Writes the JSON of responses and events. Leaves out nulls and empty arrays, writes numbers in the form that the
 * client chose, and dates to the second (`2026-07-08T09:30:00Z`).
 */
export function writeJson(value: unknown, scalars: Scalars): string {
  // An empty array is left out of an object; as the whole value it is still an array.
  return write(value, scalars === 'string') ?? (Array.isArray(value) ? '[]' : 'null')
}

/** A longer text is written in portions of about this length: writing one takes some milliseconds. */
const portionLength = 64 * 1024

/**
 * As `writeJson`, for a whole answer. A long list of long items is written in portions, between which the event loop has
 * turns for other work: then the bytes are promised.
 */
export function writeAnswer(value: unknown, scalars: Scalars): string | Promise<Uint8Array> {
  if (!isPlain(value)) return writeJson(value, scalars)
  const portions = writePortions(value, scalars === 'string')
  const first = portions.next()
  return first.done === true ? first.value : gather(portions, first.value)
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

async function gather(portions: Generator<string, string>, first: string): Promise<Uint8Array> {
  const pieces = [Buffer.from(first)]
  for (;;) {
    await nextTurn()
    const { done, value } = portions.next()
    pieces.push(Buffer.from(value))
    if (done === true) return Buffer.concat(pieces)
  }
}

/** The text of an object, in pieces that end between the items of its lists. */
function* writePortions(value: object, quoted: boolean): Generator<string, string> {
  let text = '{'
  let isFirst = true
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    const label = isFirst ? labelOf(key).first : labelOf(key).next
    if (Array.isArray(member) && member.length > 0) {
      text += `${label}[`
      for (let i = 0; i < member.length; i++) {
        if (i > 0) text += ','
        text += write(member[i], quoted) ?? 'null'
        if (text.length < portionLength) continue
        yield text
        text = ''
      }
      text += ']'
    } else {
      const written = write(member, quoted)
      if (written === undefined) continue
      text += label + written
    }
    isFirst = false
  }
  return `${text}}`
}

/** A chain of comparisons, because V8 calls a function for the `typeof` of a `switch`. */
function write(value: unknown, quoted: boolean): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return quoted ? `"${value}"` : String(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value !== 'object' || value === null) return undefined
  if (value instanceof Json) return value.text
  if (value instanceof Fixed || value instanceof Extended) return value.text(quoted)
  if (value instanceof Date) return toSeconds(value)
  return Array.isArray(value) ? writeArray(value, quoted) : `{${writeMembers(value, quoted)}}`
}

function writeArray(values: unknown[], quoted: boolean): string | undefined {
  if (values.length === 0) return undefined
  let text = '['
  for (const value of values) {
    if (text.length > 1) text += ','
    text += write(value, quoted) ?? 'null'
  }
  return `${text}]`
}

/** The text between the braces of an object. */
function writeMembers(value: object, quoted: boolean): string {
  let text = ''
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    // Half of the members of an item are null.
    if (member === null) continue
    const written = write(member, quoted)
    if (written === undefined) continue
    text += text === '' ? labelOf(key).first : labelOf(key).next
    text += written
  }
  return text
}

/** The text before the value of a member, where it is the first member and where it is not. */
interface Label {
  first: string
  next: string
}

/** The API has a few hundred names; further ones, of fields that a client invented, are not cached. */
const labelLimit = 1_000
const labels = new Map<string, Label>()

function labelOf(key: string): Label {
  const known = labels.get(key)
  if (known !== undefined) return known
  const first = `${JSON.stringify(key)}:`
  const label = { first: flatten(first), next: flatten(`,${first}`) }
  if (labels.size < labelLimit) labels.set(key, label)
  return label
}

/** A cache of recently written seconds by their lowest bits: the few that occur in an answer occur again. */
const places = 256
const seconds = new Float64Array(places).fill(NaN)
const texts = Array.from({ length: places }, () => '')

/** `"2026-07-08T09:30:00Z"`. */
function toSeconds(date: Date): string {
  const second = Math.floor(date.getTime() / 1000)
  const place = second & (places - 1)
  if (seconds[place] !== second) {
    texts[place] = flatten(`"${new Date(second * 1000).toISOString().slice(0, 19)}Z"`)
    seconds[place] = second
  }
  return texts[place]!
}
