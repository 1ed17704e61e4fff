import { Parser } from 'htmlparser2'
import type { ExtractedPart } from './extraction.ts'
import { decodeText } from './plain.ts'
import { feed, guardDepth } from './markup.ts'
import { Sections } from './sections.ts'

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
export function readHtml(bytes: Uint8Array): ExtractedPart[] {
  const sections = new Sections()
  let silence = 0
  let pre = 0
  const guard = guardDepth()
  const parser = new Parser({
    onopentagname(name) {
      guard.open()
      if (silent.has(name)) silence++
      if (silence > 0) return
      if (name === 'pre') pre++
      if (name === 'br' || blocks.has(name)) sections.add('\n')
      if (name === 'td' || name === 'th') sections.add('\t')
    },
    ontext(text) {
      if (silence === 0) sections.add(pre > 0 ? text : text.replace(/\s+/g, ' '))
    },
    onclosetag(name) {
      guard.close()
      if (silent.has(name) && silence > 0) silence--
      if (silence > 0) return
      if (name === 'pre' && pre > 0) pre--
      if (blocks.has(name)) sections.add('\n')
    },
  })
  feed(parser, decodeText(bytes), () => sections.isFull)
  sections.end(null)
  return sections.list.map(({ place, text }) => ({ place, text: text.replace(/\n[ \t]+/g, '\n') }))
}
