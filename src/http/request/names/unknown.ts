import type { FieldErrors } from '../../../lib/errors.ts'
import { nearestName } from '../../../lib/text/resemblance.ts'
import { toChoice } from '../field-errors.ts'
import type { Known, KnownMember } from './known-members.ts'

type Members = ReadonlyMap<string, KnownMember>

/**
 * What becomes of names that an endpoint does not know (Prefer: handling, RFC 7240, section 4.4). `usual`: an unknown
 * parameter, and a member of the body that resembles a known one, are refused; other members are ignored and listed.
 * `strict`: all are refused. `lenient`: all are ignored and listed. `silent`: they are ignored, as the UI kit needs.
 */
export type Handling = 'usual' | 'strict' | 'lenient' | 'silent'

/** The most names that a refusal or the header lists, and the longest of them. */
const mostListed = 20
const longestListed = 64

/** The most different names that are compared with known ones: 200 of them take a few milliseconds. */
const mostCompared = 200

/** Gathers the names in one request that its endpoint does not know. */
export class Unknown {
  readonly handling: Handling
  #refused: Map<string, string[]> | undefined
  readonly #ignored: string[] = []
  #isCut = false
  /** The known name that each unknown one resembles, by where it may be. */
  #nearest: Map<Members, Map<string, string | undefined>> | undefined
  #compared = 0

  constructor(handling: Handling) {
    this.handling = handling
  }

  /** What is refused, by name; undefined where nothing is. */
  get errors(): FieldErrors | undefined {
    return this.#refused && Object.fromEntries(this.#refused)
  }

  /** The value of X-Service-Ignored: names, separated by commas, percent-encoded; `...` stands for more. Empty: none. */
  get header(): string {
    return (this.#isCut ? [...this.#ignored, '...'] : this.#ignored).join(', ')
  }

  /** Looks through a body, at all levels. */
  look(known: Known, value: unknown): void {
    if (this.handling !== 'silent') this.#walk(known, value, '')
  }

  /** A parameter that the endpoint, which knows `names`, does not know. */
  addParameter(name: string, names: readonly string[]): void {
    if (this.handling === 'silent') return
    if (this.handling === 'lenient') return this.#ignore('?', name)
    if (this.#isFull) return
    const nearest = nearestName(name, names)
    const known = names.length === 0 ? 'it takes none' : `it takes ${toChoice(names)}`
    const hint = nearest === undefined ? known : `did you mean ${nearest}?`
    this.#refuse(name, `is not a parameter of this operation: ${hint}`)
  }

  #walk({ members, items }: Known, value: unknown, path: string): void {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      if (items === null) return
      for (const [i, item] of value.entries()) this.#walk(items, item, `${path}${i}.`)
      return
    }
    if (members === undefined) return
    for (const name in value) {
      const member = members.get(name)
      if (member === undefined) this.#addMember(members, name, path)
      else if (!member.isInput) this.#addReadOnly(name, path)
      else if (member.known !== null)
        this.#walk(member.known, (value as Record<string, unknown>)[name], `${path}${name}.`)
    }
  }

  #addMember(members: Members, name: string, path: string): void {
    const nearest = this.handling === 'lenient' || this.#isFull ? undefined : this.#findNearest(members, name)
    if (nearest !== undefined) this.#refuse(path + name, `is not known here; did you mean ${nearest}?`)
    else if (this.handling === 'strict') this.#refuse(path + name, 'is not known here')
    else this.#ignore(path, name)
  }

  #addReadOnly(name: string, path: string): void {
    if (this.handling === 'strict') this.#refuse(path + name, 'is only read, and cannot be set here')
    else this.#ignore(path, name)
  }

  #findNearest(members: Members, name: string): string | undefined {
    this.#nearest ??= new Map()
    let found = this.#nearest.get(members)
    if (found === undefined) this.#nearest.set(members, (found = new Map()))
    if (!found.has(name)) {
      if (++this.#compared > mostCompared) return undefined
      const inputs = Array.from(members).flatMap(([known, { isInput }]) => (isInput ? [known] : []))
      found.set(name, nearestName(name, inputs))
    }
    return found.get(name)
  }

  get #isFull(): boolean {
    return this.#refused !== undefined && this.#refused.size >= mostListed
  }

  #refuse(name: string, text: string): void {
    this.#refused ??= new Map()
    if (!this.#isFull) this.#refused.set(cut(name), [text])
  }

  #ignore(path: string, name: string): void {
    const shown = this.#ignored.length < mostListed ? path + encode(name) : ''
    if (shown === '' || shown.length > longestListed) this.#isCut = true
    else if (!this.#ignored.includes(shown)) this.#ignored.push(shown)
  }
}

function cut(name: string): string {
  return name.length > longestListed ? `${name.slice(0, longestListed)}…` : name
}

/** A name as it can stand in a header, and in a path of names that are separated by dots. */
function encode(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll('.', '%2E')
}
