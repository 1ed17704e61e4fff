import { foldName, isBlank } from '../../../lib/name.ts'
import { dropMentions, toHtml } from './html.ts'
import { createParser } from './markdown.ts'
import {
  mayMention,
  mayMentionUids,
  mentionsOf,
  numberMentions,
  replaceMentions,
  type Mention,
} from './mention-syntax.ts'
import { listMarks, settleMarks, toMarkedText } from './plain-text.ts'
import { parseSimple } from './simple-text.ts'

export { listMentions } from './html.ts'

/** A text rendered as far as possible without its app. Made once, before the command; `settleMentions` completes it. */
export interface ParsedText {
  /** The stored text: line ends are `\n`, uids of mentions are ids. Null for an absent or blank text. */
  readonly text: string | null
  /** The ids of all mentioned users, effective or not. */
  readonly mentions: readonly number[]
  readonly html: string | null
  readonly markedText: string | null
}

/** The stored rendering of a text. */
export interface Rendering {
  text: string | null
  html: string | null
  plain: string | null
}

const parse = createParser()

/** The uids that a text mentions: resolve them and pass the ids to `parseText`. Usually empty, and then cheap. */
export function listMentionedUids(text: string | null | undefined): string[] {
  if (!text || !mayMentionUids(text)) return []
  return [...new Set(mentionsOf(parse(normalise(text))).flatMap(({ uid }) => uid ?? []))]
}

/** A text to read. `ids` maps the mentioned uids; without it, they are yet to be looked up. */
export interface TextTask {
  text: string
  ids?: ReadonlyMap<string, number>
}

/** A parsed text, or the uids without which it cannot be. */
export type ReadText = { uids: string[]; parsed: null } | { uids: null; parsed: ParsedText }

/** Parses a text, unless it mentions uids that are yet to be looked up. */
export function readText({ text, ids }: TextTask): ReadText {
  const uids = ids === undefined ? listMentionedUids(text) : []
  return uids.length > 0 ? { uids, parsed: null } : { uids: null, parsed: parseText(text, ids) }
}

/**
 * Renders a text as far as possible without the app. Optimised for 20,000 texts a second: texts without Markdown take a
 * shortcut with an equal result. `ids` maps the mentioned uids; mentions of others stay literal, and mention no one.
 */
export function parseText(text: string | null | undefined, ids?: ReadonlyMap<string, number>): ParsedText {
  if (!text || isBlank(text)) return { text: null, mentions: [], html: null, markedText: null }
  const source = ids && ids.size > 0 ? writeIds(normalise(text), ids) : normalise(text)
  return parseSimple(source) ?? parseMarkdown(source)
}

/**
 * Completes a rendering: users for whom `isEffective` is false (unknown, trashed, without access to the app) are shown
 * by name only. Called in the app's mailbox, so it does nothing else.
 */
export function settleMentions(parsed: ParsedText, isEffective: (user: number) => boolean): Rendering {
  const { text, html, markedText, mentions } = parsed
  if (mentions.length === 0 || html === null || markedText === null) return { text, html, plain: markedText }
  return {
    text,
    html: mentions.every(user => isEffective(user)) ? html : dropMentions(html, isEffective),
    plain: settleMarks(markedText, isEffective),
  }
}

/** The stored form of a rendering: where the rest can be derived from the text, it is null. */
export function toKept({ text, html, plain }: Rendering): Rendering {
  return { text, html: html === paragraph(text) ? null : html, plain: plain === text ? null : plain }
}

export function htmlOf({ text, html }: Rendering): string | null {
  return html ?? paragraph(text)
}

export function plainOf({ text, plain }: Rendering): string | null {
  return plain ?? text
}

function paragraph(text: string | null): string | null {
  return text === null ? null : `<p>${text}</p>`
}

/**
 * Normalises line ends, and removes NUL, which PostgreSQL does not store, and halves of surrogate pairs, which UTF-8
 * cannot encode.
 */
function normalise(text: string): string {
  const lines = /[\r\0]/.test(text) ? text.replace(/\r\n?/g, '\n').replaceAll('\0', '') : text
  return lines.isWellFormed() ? lines : lines.toWellFormed()
}

function parseMarkdown(text: string): ParsedText {
  const tokens = parse(text)
  const markedText = toMarkedText(tokens)
  return { text, mentions: listMarks(markedText), html: toHtml(tokens), markedText }
}

function writeIds(text: string, ids: ReadonlyMap<string, number>): string {
  return rewriteMentions(text, ({ uid, labelSource }) => {
    const id = uid === null ? undefined : ids.get(uid)
    return id === undefined ? null : `[${labelSource}](@u${id})`
  })
}

/**
 * The text with other ids in its mentions, by id and by uid. A mention for which `idOf` returns null becomes a name, because
 * its id could be another user's; one for which it returns undefined stays.
 */
export function moveMentions(
  text: string,
  idOf: (mention: Pick<Mention, 'user' | 'uid'>) => number | null | undefined,
): string {
  return rewriteMentions(text, mention => {
    const id = idOf(mention)
    if (id === undefined) return null
    return id === null ? mention.labelSource : `[${mention.labelSource}](@u${id})`
  })
}

function rewriteMentions(text: string, rewrite: (mention: Mention) => string | null): string {
  if (!mayMention(text)) return text
  const numbered = numberMentions(normalise(text))
  return replaceMentions(numbered, mentionsOf(parse(numbered)), rewrite)
}

/** The text for a language model: `@Name` for each mention. */
export function nameMentions(text: string): string {
  return rewriteMentions(text, ({ label }) => `@${label}`)
}

/** The text with mentions of one user only; other mentions become names. */
export function mentionOnly(text: string, { id, uid }: { id: number; uid: string | null }): string {
  const isMeant = (mention: Mention) =>
    mention.uid === null ? mention.user === id : uid !== null && foldName(mention.uid) === foldName(uid)
  const named = rewriteMentions(text, mention => (isMeant(mention) ? null : mention.labelSource))
  // A name may have been the name of a mention around it, and then nothing but the asker's is one.
  if (!mayMention(named) || mentionsOf(parse(normalise(named))).every(isMeant)) return named
  return named.replace(/\((?=[ \t]*<?@)/g, '\\(')
}
