import Parser, { type MarkdownIt, type Token } from 'markdown-it'
import { limitWork } from './budget.ts'
import { readMentions } from './mention-syntax.ts'

/** Parses Markdown of up to some 100,000 characters in bounded time, whatever the text. */
export type Parse = (text: string) => Token[]

/** The most links of a text; finding all in a hostile one takes 100 ms (measured). */
const linkLimit = 1_000

/**
 * The Markdown of content: CommonMark without HTML and link definitions, with tables, `~~`, bare URLs and line breaks.
 * Texts must have `\n` as line ends and no NUL.
 */
export function createParser(): Parse {
  const linking = createMarkdown({ linkify: true })
  const plain = createMarkdown({ linkify: false })
  return text => {
    const links = text.match(/@|:\/\/|www\./gi)?.length ?? 0
    return (links > linkLimit ? plain : linking).parse(text, {})
  }
}

function createMarkdown({ linkify }: { linkify: boolean }): MarkdownIt {
  const markdown = new Parser({ html: false, linkify, breaks: true })
  markdown.core.ruler.disable('normalize')
  // A definition shows nothing, and one that is used a thousand times makes a text a thousand times longer.
  markdown.block.ruler.disable('reference')
  markdown.use(readMentions).use(limitWork)
  markdown.validateLink = url => /^(?:https?:\/\/|mailto:)/i.test(url)
  // A bare URL is shown as written: decoding it would show characters that its author did not write.
  markdown.normalizeLinkText = url => url
  markdown.linkify.add('ftp:', null).add('//', null).add('www.', www)
  return markdown
}

/** Bare hosts are not linked, because `read.me` is rarely one; `www.` is unambiguous. */
const www: Parameters<MarkdownIt['linkify']['add']>[1] = {
  validate(text, position, linkify) {
    const host = linkify.re.get_relative_proto_validator()
    host.lastIndex = position
    return host.exec(text)?.[0].length ?? 0
  },
  normalize(match) {
    match.url = `http://${match.url}`
  },
}
