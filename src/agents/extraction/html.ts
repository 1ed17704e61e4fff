import { decodeText } from './plain.ts'
import { readMarkup } from './markup.ts'
import type { Sections } from './sections.ts'

/** Elements without readable text. */
const silent = new Set(['script', 'style', 'noscript', 'template', 'iframe', 'object', 'svg', 'math', 'select'])

/** Elements that begin a line. */
const blocks = new Set(
  (
    'address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hr li main nav ol p pre section summary table tbody tfoot thead title tr ul'
  ).split(' '),
)

/** The words of a page, with line breaks where its blocks end, without markup, scripts and styles. */
export function readHtml(bytes: Uint8Array, sections: Sections): void {
  let silence = 0
  let pre = 0
  readMarkup(decodeText(bytes), {
    isEnough: () => sections.isFull,
    open(name) {
      if (silent.has(name)) silence++
      if (silence > 0) return
      if (name === 'pre') pre++
      if (name === 'br' || blocks.has(name)) sections.add('\n')
      if (name === 'td' || name === 'th') sections.add('\t')
    },
    text(text) {
      if (silence === 0) sections.add(pre > 0 ? text : text.replace(/\s+/g, ' '))
    },
    close(name) {
      if (silent.has(name) && silence > 0) silence--
      if (silence > 0) return
      if (name === 'pre' && pre > 0) pre--
      if (blocks.has(name)) sections.add('\n')
    },
  })
  sections.end(null, text => text.replace(/\n[ \t]+/g, '\n'))
}
