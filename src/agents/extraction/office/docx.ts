import { readXml } from '../markup.ts'
import type { Sections } from '../sections.ts'
import { Archive } from './archive.ts'

/** Paragraphs on lines of their own, cells of tables separated by tabs, notes at the end. */
export function readDocx(bytes: Uint8Array, sections: Sections): void {
  const archive = new Archive(bytes)
  readPart(archive.require('word/document.xml'), sections)
  for (const notes of ['word/footnotes.xml', 'word/endnotes.xml']) readPart(archive.read(notes) ?? '', sections)
  sections.end(null)
}

function readPart(xml: string, sections: Sections): void {
  let isText = false
  // Fallbacks for older programs repeat the text before them.
  let fallbacks = 0
  let cells = 0
  readXml(xml, {
    isEnough: () => sections.isFull,
    open(name) {
      if (name === 'Fallback') fallbacks++
      if (fallbacks > 0) return
      if (name === 't') isText = true
      else if (name === 'tab') sections.add('\t')
      else if (name === 'br' || name === 'cr') sections.add('\n')
      else if (name === 'tc') cells++
    },
    text(text) {
      if (isText) sections.add(text)
    },
    close(name) {
      if (name === 'Fallback') fallbacks--
      if (fallbacks > 0) return
      if (name === 't') isText = false
      else if (name === 'p') sections.add(cells > 0 ? ' ' : '\n')
      else if (name === 'tr') sections.add('\n')
      else if (name === 'tc') {
        cells--
        sections.add('\t')
      }
    },
  })
}
