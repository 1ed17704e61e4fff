import { escapeText, openLink } from './html.ts'
import type { ParsedText } from './render.ts'

/**
 * Everything that could mean something in Markdown, or is linked, and some that could not. What it does not find is
 * shown as it is; the tests hold it against the parser.
 */
const formatted =
  /[\\`*_[<|@]|~~|&[#a-z]|:\/|www\.|^(?:[ \t>=-]|#{1,6}(?:\s|$)|\+(?:\s|$)|\d{1,9}[.)](?:\s|$))|[ \t]$/im

const label = String.raw`[a-z\d](?:[a-z\d-]{0,38}[a-z\d])?`
const path = String.raw`\/(?:[/?#=&.+_~-]?[A-Za-z\d])*\/?`
const words = String.raw`[\p{L}\p{N}](?:[^*\n]*[\p{L}\p{N}])?`

/**
 * A bare URL of letters, digits and single marks between them, `*italic*` or `**bold**`, each between blanks or edges of
 * lines, or at the end of a sentence: there it means the same whatever is around it.
 */
const simple = new RegExp(
  String.raw`(?<![^ \n])(?:(https?:\/\/${label}(?:\.${label}){0,5}(?:${path})?)|(\*\*?)(${words})\2)(?=[.,!?]?(?:[ \n]|$))`,
  'u',
)

/** In longer texts the parser's limits may show (see budget.ts). */
const lengthLimit = 2_000

/**
 * The short way to what the parser makes of a text, for most that people write: words alone, or with links, bold and
 * italics. It takes a tenth of the time (measured: 2 us of 20). Null for a text that holds anything else.
 */
export function parseSimple(text: string): ParsedText | null {
  if (isUnformatted(text)) return toParagraphs(text, escapeText(text), text)
  return text.length > lengthLimit ? null : parseFormatted(text)
}

function isUnformatted(text: string): boolean {
  return !formatted.test(text) && !text.startsWith('\n') && !text.endsWith('\n')
}

/** The same for a text that is unformatted once what is simple has been taken out of it. */
function parseFormatted(text: string): ParsedText | null {
  let html = ''
  let plain = ''
  let rest = ''
  const pieces = text.split(simple)
  for (let i = 0; i < pieces.length; i += 4) {
    const [before, url, stars, emphasised] = pieces.slice(i, i + 4)
    html += escapeText(before!)
    plain += before!
    rest += before!
    if (url !== undefined) {
      html += `${openLink(url)}${escapeText(url)}</a>`
      plain += url
      rest += 'a'
    } else if (emphasised !== undefined) {
      const tag = stars === '*' ? 'em' : 'strong'
      html += `<${tag}>${escapeText(emphasised)}</${tag}>`
      plain += emphasised
      rest += emphasised
    }
  }
  return isUnformatted(rest) ? toParagraphs(text, html, plain) : null
}

function toParagraphs(text: string, html: string, plain: string): ParsedText {
  if (!text.includes('\n')) return { text, mentions: [], html: `<p>${html}</p>`, markedText: plain }
  return {
    text,
    mentions: [],
    html: `<p>${html.replace(/\n\n+/g, '</p><p>').replaceAll('\n', '<br>')}</p>`,
    markedText: plain.replace(/\n\n+/g, '\n'),
  }
}
