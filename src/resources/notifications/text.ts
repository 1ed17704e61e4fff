import { parseText, settleMentions } from '../content/text/render.ts'

/** As much of a text as a notification quotes. */
const snippetLength = 100

/** The beginning of a plain text, in one line and without half of a character. */
export function toSnippet(plain: string | null): string {
  const line = (plain ?? '')
    .slice(0, snippetLength * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return Array.from(line).slice(0, snippetLength).join('')
}

interface Rendered {
  text: string
  html: string
  plain: string
}

let lastText = ''
let last: Rendered | null = null

/** Fills a template. What is filled in is text: it cannot bring Markdown, links or mentions along. */
export function fill(template: string, args: string[]): Rendered {
  const text = template.replace(/\{(\d)\}/g, (hole, place) => {
    const arg = args[Number(place)]
    return arg === undefined ? hole : escape(arg)
  })
  // A whole room is told the same, one after the other.
  if (last !== null && text === lastText) return last
  const { html, plain } = settleMentions(parseText(text), () => false)
  lastText = text
  return (last = { text, html: html ?? '', plain: plain ?? '' })
}

/** What Markdown reads anywhere in a line, and what makes addresses of a text: `https://`, `www.` and `@` behind a name. */
const markup = /[\\`*_[\]<>&~|]|:(?=\/\/)|(?<=www)\.|(?<=\S)@/gi

function escape(arg: string): string {
  return arg.replace(markup, '\\$&')
}
