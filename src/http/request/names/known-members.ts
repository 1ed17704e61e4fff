import type { z } from 'zod'

/** What a schema knows of the members of a value; null where they are free, as in metadata, or where there are none. */
export interface Known {
  /** Undefined where the value is not to be an object. */
  members: Map<string, KnownMember> | undefined
  /** What is known of the items of a list. */
  items: Known | null
}

export interface KnownMember {
  /** False for a member that only answers have, and that a client may send back with what it has read. */
  isInput: boolean
  known: Known | null
}

/** The parts of schemas of zod that lead to other schemas; each kind has some of them. */
interface Def {
  type: string
  innerType?: z.ZodType
  in?: z.ZodType
  out?: z.ZodType
  options?: readonly z.ZodType[]
  left?: z.ZodType
  right?: z.ZodType
  shape?: Record<string, z.ZodType>
  catchall?: z.ZodType
  element?: z.ZodType
  getter?: () => z.ZodType
}

/** Alternatives of a value, with all wrappers taken off. */
function alternativesOf(schema: z.ZodType): Def[] {
  const def = schema.def as unknown as Def
  if (def.options !== undefined) return def.options.flatMap(alternativesOf)
  if (def.type === 'intersection') return [def.left!, def.right!].flatMap(alternativesOf)
  if (def.type === 'lazy') return alternativesOf(def.getter!())
  // A transformation has no members to tell: what it was made for stands at the other end.
  if (def.type === 'pipe') return alternativesOf(def.in!.def.type === 'transform' ? def.out! : def.in!)
  return def.innerType === undefined ? [def] : alternativesOf(def.innerType)
}

/** True where members may have any name. */
function isFree({ type, catchall }: Def): boolean {
  if (type === 'object') return catchall !== undefined && (catchall.def as { type: string }).type !== 'never'
  return type === 'record' || type === 'map' || type === 'unknown' || type === 'any' || type === 'custom'
}

function shapesOf(alternatives: readonly Def[]): Record<string, z.ZodType>[] {
  return alternatives.map(({ shape }) => shape).filter(shape => shape !== undefined)
}

/** The members of answers at the same place: a list in a request may be an envelope with `data` in an answer. */
function itemsOf(shown: readonly Def[]): z.ZodType[] {
  return shown.flatMap(({ element, shape }) => element ?? (shape?.data === undefined ? [] : [shape.data]))
}

/**
 * Reads from the schema of a body which members are known, at all levels. `answers` are the schemas of what the operation
 * answers: what only they have is known as well, but has no effect.
 */
export function knownOf(body: z.ZodType, answers: readonly z.ZodType[] = []): Known | null {
  const alternatives = alternativesOf(body)
  if (alternatives.some(isFree)) return null
  const shown = answers.flatMap(alternativesOf)
  const objects = shapesOf(alternatives)
  const elements = alternatives.flatMap(({ element }) => element ?? [])
  if (objects.length + elements.length === 0) return null
  return {
    members: objects.length === 0 ? undefined : membersOf(objects, shown),
    items: elements.length === 0 ? null : merge(elements.map(element => knownOf(element, answersOfItems(shown)))),
  }
}

function answersOfItems(shown: readonly Def[]): z.ZodType[] {
  return itemsOf(shown).flatMap(item => {
    // The `data` of an envelope is a list of its own.
    const inner = alternativesOf(item).flatMap(({ element }) => element ?? [])
    return inner.length > 0 ? inner : [item]
  })
}

function membersOf(objects: readonly Record<string, z.ZodType>[], shown: readonly Def[]): Map<string, KnownMember> {
  const members = new Map<string, KnownMember>()
  const answers = shapesOf(shown)
  for (const answer of answers) for (const name in answer) members.set(name, { isInput: false, known: null })
  for (const object of objects) {
    for (const [name, schema] of Object.entries(object)) {
      const known = knownOf(
        schema,
        answers.flatMap(answer => answer[name] ?? []),
      )
      const other = members.get(name)
      members.set(name, { isInput: true, known: other?.isInput === true ? merge([other.known, known]) : known })
    }
  }
  return members
}

/** What any of several alternatives knows; null where one of them is free. */
function merge(alternatives: readonly (Known | null)[]): Known | null {
  const [first, ...others] = alternatives
  if (first === undefined || first === null) return null
  return others.reduce<Known | null>((all, other) => {
    if (all === null || other === null) return null
    const members = new Map([...(all.members ?? []), ...(other.members ?? [])])
    return { members: members.size === 0 ? undefined : members, items: all.items ?? other.items }
  }, first)
}
