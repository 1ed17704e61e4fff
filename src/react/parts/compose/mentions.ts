import type { Member } from '@parley/client'

/** A name that is being typed after an @, and where it begins. */
export interface Naming {
  start: number
  typed: string
}

export function toNaming(text: string, caret: number): Naming | undefined {
  const found = /(?:^|\s)@([\p{L}\p{N}_.-]*(?: [\p{L}\p{N}_.-]*)?)$/u.exec(text.slice(0, caret))
  return found === null ? undefined : { start: caret - found[1]!.length - 1, typed: found[1]!.toLowerCase() }
}

/** The most people to choose from: all of them are seen at once. */
export const offeredMost = 5

/** The people whose names, or a word of them, begin with what is typed. */
export function toOffered(members: readonly Member[], naming: Naming | undefined): readonly Member[] {
  if (naming === undefined) return []
  const { typed } = naming
  const fits = ({ name }: Member) => {
    const lower = name.toLowerCase()
    return lower.startsWith(typed) || lower.split(' ').some(word => word.startsWith(typed))
  }
  return members.filter(fits).slice(0, offeredMost)
}

/** Makes mentions of names that were chosen: `@Ada Park` is shown, `[Ada Park](@ada)` is sent. */
export function withMentions(text: string, chosen: readonly Member[]): string {
  // Longer names first: one may begin with another.
  const longest = [...chosen].sort((a, b) => b.name.length - a.name.length)
  return longest.reduce(
    (text, { id, uid, name }) => text.replaceAll(`@${name}`, `[${name}](@${uid ?? `u${id}`})`),
    text,
  )
}
