import type { Token } from 'markdown-it'
import { dropMentions, findMentions, toHtml } from './html.ts'
import { createParser } from './markdown.ts'
import { listUids, mentionOf, numberUids, replaceUids } from './mention-syntax.ts'
import { listMarks, settleMarks, toMarkedText } from './plain-text.ts'
import { parseSimple } from './simple-text.ts'

/** What rendering can know of a text before it knows the app. Made at the edge, once; `settleMentions` finishes it. */
export interface ParsedText {
  /** As it is stored: line ends are `\n`, uids of mentions are ids. Null where there is no text, or only blanks. */
  readonly text: string | null
  /** Ids of everybody mentioned, whether or not that will have an effect. */
  readonly mentions: readonly number[]
  readonly html: string | null
  readonly markedText: string | null
}

/** What is stored of a text. */
export interface Rendering {
  text: string | null
  html: string | null
  plain: string | null
}

const parse = createParser()

/**
 * The uids that a text mentions, as they are written there: look them up and hand the ids to `parseText`. Nearly
 * always none; costs little then.
 */
export function listMentionedUids(text: string | null | undefined): string[] {
  if (!text) return []
  const source = normalise(text)
  if (listUids(source).length === 0) return []
  return [...new Set(listNumbered(numberUids(source)).values())]
}

/**
 * Renders a text as far as possible without the app: 20,000 a second have to pass here, so the many that hold no
 * Markdown take a short way to the same result. `ids` are those of the uids that the text mentions; mentions of
 * others stay as they are written and name nobody.
 */
export function parseText(text: string | null | undefined, ids?: ReadonlyMap<string, number>): ParsedText {
  if (!text || text.trim() === '') return { text: null, mentions: [], html: null, markedText: null }
  const source = ids && ids.size > 0 ? writeIds(normalise(text), ids) : normalise(text)
  return parseSimple(source) ?? parseMarkdown(source)
}

/**
 * Finishes a text: people for whom `isEffective` is false (nobody, trashed, without access to the app) are shown by
 * name only. Called in the app's mailbox; does nothing but that.
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

/** Everybody whom stored HTML mentions with effect: those that were refused are not elements there. */
export function listMentions(html: string | null): number[] {
  return html === null ? [] : findMentions(html)
}

/** NUL, which PostgreSQL does not store, and halves of characters, which UTF-8 cannot write, are not kept. */
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
  if (listUids(text).length === 0) return text
  const numbered = numberUids(text)
  const users = new Map<number, number>()
  for (const [number, uid] of listNumbered(numbered)) {
    const id = ids.get(uid)
    if (id !== undefined) users.set(number, id)
  }
  return replaceUids(numbered, users)
}

/** Number → uid of everything in a numbered text that the parser takes for a mention. */
function listNumbered(numbered: string): Map<number, string> {
  const found = new Map<number, string>()
  const visit = (token: Token): void => {
    const mention = mentionOf(token)
    if (mention?.uid && mention.number !== null) found.set(mention.number, mention.uid)
    token.children?.forEach(visit)
  }
  parse(numbered).forEach(visit)
  return found
}
