import { isolate } from '../../lib/name.ts'
import { parseText, settleMentions } from '../content/text/render.ts'

/** Characters that a notification quotes of a text. */
const snippetLength = 100

/** The beginning of a plain text in one line, cut between characters. */
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

/** Fills a template with texts, escaped so that they add no Markdown, links or mentions, and turn no direction. */
export function fill(template: string, args: string[]): Rendered {
  const text = template.replace(/\{(\d)\}/g, (hole, place) => {
    const arg = args[Number(place)]
    return arg === undefined ? hole : escape(isolate(arg))
  })
  // A whole room gets equal texts, one after the other.
  if (last !== null && text === lastText) return last
  const { html, plain } = settleMentions(parseText(text), () => false)
  lastText = text
  return (last = { text, html: html ?? '', plain: plain ?? '' })
}

/** Markdown anywhere in a line, and parts of a text that become links: `https://`, `www.`, and `@` after a name. */
const markup = /[\\`*_[\]<>&~|]|:(?=\/\/)|(?<=www)\.|(?<=\S)@/gi

function escape(arg: string): string {
  return arg.replace(markup, '\\$&')
}
