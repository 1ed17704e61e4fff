import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import nginx from 'highlight.js/lib/languages/nginx'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import Parser, { type MarkdownIt, type Token } from 'markdown-it'

/** Names after the fences of code, and what they are highlighted as. */
const languages = {
  ...{ sh: 'bash', js: 'typescript', jsx: 'typescript', ts: 'typescript', tsx: 'typescript', mjs: 'typescript' },
  ...{ json: 'json', yaml: 'yaml', ini: 'ini', nginx: 'nginx', sql: 'sql', html: 'xml' },
} as const

export interface Heading {
  level: number
  text: string
  id: string
}

export interface Rendered {
  html: string
  headings: Heading[]
}

/** Turns the target of a link into an address, or null where there is nothing to link to. */
type ToAddress = (target: string) => string | null

/** Renders our own Markdown: never what users wrote. Headings get the ids that GitHub gives them. */
export class Markdown {
  readonly #parser: MarkdownIt

  /** `html`: whether tags in it are HTML, or text that is about HTML. */
  constructor({ html }: { html: boolean }) {
    for (const [name, language] of Object.entries({ bash, ini, json, nginx, sql, typescript, xml, yaml }))
      hljs.registerLanguage(name, language)
    this.#parser = new Parser({ html, highlight: (code, name) => highlight(code, name) })
    const { rules } = this.#parser.renderer
    // What is wider than the window scrolls by itself, also by keyboard.
    rules.table_open = () => '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n'
    rules.table_close = () => '</table></div>\n'
  }

  render(text: string, toAddress: ToAddress = target => target): Rendered {
    const tokens = this.#parser.parse(text, {})
    const headings = tokens.flatMap((token, i) => (token.type === 'heading_open' ? [name(token, tokens[i + 1]!)] : []))
    spread(headings)
    let next = 0
    for (const token of tokens) {
      if (token.type === 'heading_open') token.attrSet('id', headings[next++]!.id)
      if (token.children !== null) lead(token.children, toAddress)
    }
    return { html: this.#parser.renderer.render(tokens, this.#parser.options, {}), headings }
  }
}

/** The id of a heading, as GitHub makes it: https://github.com/gjtorikian/html-pipeline. */
export function toId(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

function name({ tag }: Token, { children }: Token): Heading {
  const text = (children ?? [])
    .map(({ type, content }) => (/^(?:text|code_inline)$/.test(type) ? content : ''))
    .join('')
  return { level: Number(tag.slice(1)), text, id: toId(text) }
}

/** A second heading of the same text gets a number. */
function spread(headings: Heading[]): void {
  const seen = new Map<string, number>()
  for (const heading of headings) {
    const times = seen.get(heading.id) ?? 0
    seen.set(heading.id, times + 1)
    if (times > 0) heading.id = `${heading.id}-${times}`
  }
}

function lead(tokens: Token[], toAddress: ToAddress): void {
  let isLoose = false
  for (const token of tokens) {
    const attribute = token.type === 'image' ? 'src' : 'href'
    if (token.type === 'link_close' && isLoose) token.tag = 'span'
    if (token.type !== 'link_open' && token.type !== 'image') continue
    const address = toAddress(String(token.attrGet(attribute)))
    isLoose = address === null
    if (address !== null) token.attrSet(attribute, address)
    else Object.assign(token, { tag: 'span', attrs: null })
  }
}

/** Code in a box, in colours where its language is known. */
export function highlight(code: string, name: string): string {
  const language = Object.hasOwn(languages, name) ? languages[name as keyof typeof languages] : null
  const html = language === null ? escapeHtml(code) : hljs.highlight(code, { language }).value
  // With <pre> at its beginning, the parser takes it as it is.
  return `<pre tabindex="0"><code>${html}</code></pre>`
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
