import type { ExtractedPart } from '../extraction.ts'
import { Sections } from '../sections.ts'
import { Archive } from './archive.ts'
import { readXml } from './xml.ts'

const parts = ['word/document.xml', 'word/footnotes.xml', 'word/endnotes.xml']

/** Paragraphs on lines of their own, cells of tables separated by tabs, notes at the end. */
export function readDocx(bytes: Uint8Array): ExtractedPart[] {
  const archive = new Archive(bytes)
  const sections = new Sections()
  archive.require(parts[0]!)
  for (const part of parts) readPart(archive.read(part) ?? '', sections)
  sections.end(null)
  return sections.list
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
