import { readXml } from '../markup.ts'
import type { Sections } from '../sections.ts'
import { Archive } from './archive.ts'
import { listParts } from './relations.ts'

/** The text of each slide, in the order in which they are shown. */
export function readPptx(bytes: Uint8Array, sections: Sections): void {
  const archive = new Archive(bytes)
  for (const [index, { part }] of listParts(archive, 'ppt/presentation.xml', 'sldId').entries()) {
    if (sections.isFull) break
    readSlide(archive.read(part) ?? '', sections)
    sections.end(`slide ${index + 1}`)
  }
}

function readSlide(xml: string, sections: Sections): void {
  let isText = false
  readXml(xml, {
    isEnough: () => sections.isFull,
    open(name) {
      if (name === 't') isText = true
      else if (name === 'br') sections.add('\n')
    },
    text(text) {
      if (isText) sections.add(text)
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'p') sections.add('\n')
    },
  })
}
