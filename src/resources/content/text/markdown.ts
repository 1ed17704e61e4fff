import Parser, { type Token } from 'markdown-it'
import { linkBare } from './autolinks.ts'
import { limitWork } from './budget.ts'
import { readMentions } from './mention-syntax.ts'

/** Parses Markdown of up to some 100,000 characters in bounded time, whatever the text. */
export type Parse = (text: string) => Token[]

/**
 * The Markdown of content: CommonMark without HTML and link definitions, with tables, `~~`, bare URLs and line breaks.
 * Texts must have `\n` as line ends and no NUL.
 */
export function createParser(): Parse {
  const markdown = new Parser({ html: false, breaks: true })
  markdown.core.ruler.disable('normalize')
  // A definition shows nothing, and one that is used a thousand times makes a text a thousand times longer.
  markdown.block.ruler.disable('reference')
  markdown.use(readMentions).use(linkBare).use(limitWork)
  markdown.validateLink = url => /^(?:https?:\/\/|mailto:)/i.test(url)
  // A URL in angle brackets is shown as written: decoding it would show characters that its author did not write.
  markdown.normalizeLinkText = url => url
  return text => markdown.parse(text, {})
}
