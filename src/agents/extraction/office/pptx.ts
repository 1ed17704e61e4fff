import type { ExtractedPart } from '../extraction.ts'
import { Sections } from '../sections.ts'
import { Archive } from './archive.ts'
import { readRelations } from './relations.ts'
import { readXml } from './xml.ts'

const presentation = 'ppt/presentation.xml'

/** The text of each slide, in the order in which they are shown. */
export function readPptx(bytes: Uint8Array): ExtractedPart[] {
  const archive = new Archive(bytes)
  const relations = readRelations(archive, presentation)
  const slides: string[] = []
  readXml(archive.require(presentation), {
    open(name, attributes) {
      const part = name === 'sldId' ? relations.get(attributes['r:id'] ?? '') : undefined
      if (part !== undefined) slides.push(part)
    },
  })
  const sections = new Sections()
  for (const [index, slide] of slides.entries()) {
    if (sections.isFull) break
    readSlide(archive.read(slide) ?? '', sections)
    sections.end(`slide ${index + 1}`)
  }
  return sections.list
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
