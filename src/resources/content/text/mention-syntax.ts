import type { Env, MarkdownIt, StateInline, Token } from 'markdown-it'

/** The most mentions of a text: as many as members can be added at once. A text of 64 KB has room for 8,000. */
const mentionLimit = 500

/** A mention by id or by uid. `number` is set in a numbered text. */
export interface Mention {
  label: string
  user: number | null
  uid: string | null
  number: number | null
}

/**
 * `[Name](@u2)` or `[Name](@uid)`, anywhere but in code. A `[` within the name would make the name begin earlier, so
 * that `[see [Ann](@u1)` mentioned all of it: as in links, the innermost bracket counts.
 */
const form = String.raw`\[([^[\]\n]{1,256})\]\(@(?:u(\d{1,15})|([^\s()\0]{1,256}))(?:\0(\d+))?\)`
const here = new RegExp(form, 'y')
const anywhere = new RegExp(form, 'g')

/** Adds mentions to the parser. They take precedence over links, because their targets are no URLs. */
export function readMentions(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('link', 'mention', readMention)
}

/** The mention of a token, or null for any other token. */
export function mentionOf(token: Token): Mention | null {
  // Only readMention makes tokens of this type.
  return token.type === 'mention' ? (token.meta?.mention as Mention) : null
}

function readMention(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x5b) return false
  here.lastIndex = state.pos
  const match = here.exec(state.src)
  if (match === null || here.lastIndex > state.posMax) return false
  const [, label, id, uid, number] = match
  if (uid !== undefined && !isUid(uid)) return false

  if (!silent) {
    if (!takeMention(state.env)) return false
    const mention: Mention = { label: label!, user: toNumber(id), uid: uid ?? null, number: toNumber(number) }
    state.push('mention', 'span', 0).meta = { mention }
  }
  state.pos = here.lastIndex
  return true
}

/** Counts a mention of this text; false beyond the limit, where it is shown literally. */
function takeMention(env: Env): boolean {
  const mentions = ((env.mentions as number | undefined) ?? 0) + 1
  env.mentions = mentions
  return mentions <= mentionLimit
}

function toNumber(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits)
}

/** Digits alone are an id, and ids are written `u2`. */
function isUid(target: string): boolean {
  return /\D/.test(target)
}

/** The uids of possible mentions; only parsing can tell which are in code. */
export function listUids(text: string): string[] {
  if (!text.includes('](@')) return []
  return Array.from(text.matchAll(anywhere), match => match[3]).filter(
    uid => uid !== undefined && isUid(uid),
  ) as string[]
}

/**
 * Appends a running number to the target of each mention with a uid: `[Ann](@ann\0 0)`. The parser passes it on, so
 * that mentions can be found in the source, and code is left unchanged.
 */
export function numberUids(text: string): string {
  let number = 0
  return text.replace(anywhere, (whole, _label, _id, uid) => (uid ? `${whole.slice(0, -1)}\0${number++})` : whole))
}

/** Replaces numbered uids by ids. Targets without an entry in `ids` stay. */
export function replaceUids(numbered: string, ids: ReadonlyMap<number, number>): string {
  return numbered.replace(anywhere, (whole, label, _id, _uid, number) => {
    if (number === undefined) return whole
    const id = ids.get(Number(number))
    return id === undefined ? whole.replace(/\0\d+/, '') : `[${label}](@u${id})`
  })
}

/** The text for a language model: `@Name` for each mention. */
export function nameMentions(text: string): string {
  return text.includes('](@') ? text.replace(anywhere, (_, label: string) => `@${label}`) : text
}

/** The text with mentions of one user only; other mentions become names. */
export function mentionOnly(text: string, { id, uid }: { id: number; uid: string | null }): string {
  return text.replace(anywhere, (whole, label: string, userId?: string, userUid?: string) => {
    const isMeant = userId === undefined ? userUid?.toLowerCase() === uid?.toLowerCase() : Number(userId) === id
    return isMeant ? whole : label
  })
}
