import type { MarkdownIt, StateInline, Token } from 'markdown-it'

/** The most mentions of a text: as many as members can be added at once. A text of 64 KB has room for 8,000. */
const mentionLimit = 500

/** The most characters of a name, and of a uid. */
const lengthLimit = 256

/** A mention by id or by uid: one of `user` and `uid` is set. */
export interface Mention {
  /** The name, without escapes. It has no Markdown: stars and underscores in it are its own. */
  label: string
  user: number | null
  uid: string | null
  /** The mention as it is written, and the name in it. */
  source: string
  labelSource: string
  /** Its place among all possible mentions of a text that `numberMentions` has numbered; otherwise null. */
  number: number | null
}

/**
 * Adds mentions to the parser: links in one line that lead to `@u2` or `@uid`, such as `[Ann \[ops\]](@u2)` or
 * `[Ann [ops]](<@ann)>)`. What a link is says CommonMark 6.3: brackets in the name are escaped or balanced, parentheses
 * in the uid as well, or it stands in angle brackets; a title may follow, and of nested links the innermost is one.
 */
export function readMentions(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('link', 'mention', readMention)
}

/** The mention of a token, or null for any other token. */
export function mentionOf(token: Token): Mention | null {
  // Only readMention makes tokens of this type.
  return token.type === 'mention' ? (token.meta?.mention as Mention) : null
}

/** All mentions among tokens, in order. */
export function mentionsOf(tokens: Token[]): Mention[] {
  return tokens.flatMap(token => mentionOf(token) ?? (token.children === null ? [] : mentionsOf(token.children)))
}

function readMention(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x5b || state.pos > lastTarget(state)) return false
  // Beyond the limit, mentions are shown as they are written.
  const mentions = (state.env.mentions as number | undefined) ?? 0
  const mention = mentions < mentionLimit ? parseMention(state) : null
  if (mention === null) return false
  if (!silent) {
    state.env.mentions = mentions + 1
    state.push('mention', 'span', 0).meta = { mention }
  }
  state.pos += mention.source.length
  return true
}

/** The position of the last `@`. Found once for each text, because thousands of brackets may precede it. */
function lastTarget({ env, src }: StateInline): number {
  if (env.mentionSource !== src) {
    env.mentionSource = src
    env.lastTarget = src.lastIndexOf('@')
  }
  return env.lastTarget as number
}

function parseMention(state: StateInline): Mention | null {
  const { src, pos: start, posMax } = state
  const { parseLinkLabel, parseLinkDestination, parseLinkTitle } = state.md.helpers
  const labelEnd = parseLinkLabel(state, start, true)
  if (labelEnd === -1 || src[labelEnd + 1] !== '(') return null
  const targetStart = skipBlanks(src, labelEnd + 2)
  // Written so: where `@` is escaped, the author wants none.
  if (src[src[targetStart] === '<' ? targetStart + 1 : targetStart] !== '@') return null
  const target = parseLinkDestination(src, targetStart, posMax)
  const user = target.ok ? readTarget(target.str) : null
  if (user === null) return null
  let end = skipBlanks(src, target.pos)
  const title = end > target.pos ? parseLinkTitle(src, end, posMax) : null
  if (title?.ok) end = skipBlanks(src, title.pos)
  if (end >= posMax || src[end] !== ')') return null
  const source = src.slice(start, end + 1)
  const labelSource = src.slice(start + 1, labelEnd)
  const label = labelSource.replace(/\\([!-/:-@[-`{-~])/g, '$1')
  if (source.includes('\n') || label.trim() === '' || label.length > lengthLimit) return null
  return { label, ...user, source, labelSource }
}

function skipBlanks(src: string, at: number): number {
  while (src[at] === ' ' || src[at] === '\t') at++
  return at
}

/** Begins and ends the number in a target: half of a surrogate pair, which no text has. */
const mark = '\ud800'
const target = new RegExp(`^@(?:${mark}(\\d+)${mark})?(?:u(\\d{1,15})|(\\S+))$`)

function readTarget(text: string): Pick<Mention, 'user' | 'uid' | 'number'> | null {
  const [whole, number, id, uid] = target.exec(text) ?? []
  // Digits alone are an id, and ids are written `u2`.
  if (whole === undefined || (uid !== undefined && (uid.length > lengthLimit || !/\D/.test(uid)))) return null
  return { user: toNumber(id), uid: uid ?? null, number: toNumber(number) }
}

function toNumber(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits)
}

/** True where a text may have mentions by uid; only parsing can tell whether these are in code. Cheap where it has none. */
export function mayMentionUids(text: string): boolean {
  return text.includes('](') && /\([ \t]*<?@(?!u\d{1,15}[>)])/.test(text)
}

/** True where a text may have mentions. */
export function mayMention(text: string): boolean {
  return text.includes('](') && text.includes('@')
}

const possible = /\([ \t]*<?@/g

/**
 * The text with a number in each possible target, `[Ann](@0ann)` with a mark on both sides of it. The parser passes it
 * on, which tells where in a text the mentions are, and what of it is code.
 */
export function numberMentions(text: string): string {
  let number = 0
  return text.toWellFormed().replace(possible, opening => `${opening}${mark}${number++}${mark}`)
}

/**
 * Puts other text in the place of mentions, and removes the numbers. `mentions` are those of the numbered text, in order;
 * one for which `replace` returns null stays.
 */
export function replaceMentions(
  numbered: string,
  mentions: Mention[],
  replace: (mention: Mention) => string | null,
): string {
  let text = ''
  let done = 0
  for (const mention of mentions) {
    const source = findSource(numbered, mention, done)
    const replacement = replace(mention)
    if (source === null || replacement === null) continue
    text += numbered.slice(done, source.start) + replacement
    done = source.end
  }
  text += numbered.slice(done)
  return text.replace(numbers, '')
}

const numbers = new RegExp(`${mark}\\d+${mark}`, 'g')

/** Where in its text a mention is written. Its number makes it unique. */
function findSource(text: string, { source, number }: Mention, from: number): { start: number; end: number } | null {
  if (number === null) return null
  // In the cells of tables, bars are escaped.
  for (const written of [source, source.replaceAll('|', '\\|')]) {
    const start = text.indexOf(written, from)
    if (start !== -1) return { start, end: start + written.length }
    if (!source.includes('|')) break
  }
  return null
}

/** A mention as Markdown. The name is escaped where it could end early, or mean something else. */
export function writeMention({ id, label }: { id: number; label: string }): string {
  return `[${escapeLabel(label)}](@u${id})`
}

/** A text as the label of a link: what would end or change the label is escaped. */
export function escapeLabel(label: string): string {
  return label.replace(/[\\[\]`<]/g, '\\$&')
}
