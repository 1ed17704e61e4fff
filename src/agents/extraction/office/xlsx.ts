import { readXml } from '../markup.ts'
import type { Sections } from '../sections.ts'
import { Archive } from './archive.ts'
import { listParts } from './relations.ts'

/** The most empty cells kept in a gap of a row: a row may begin in the first column and end in the last. */
const gapLimit = 32

/** The cells of each sheet, joined by tabs, one row per line. Formulas give their last value. */
export function readXlsx(bytes: Uint8Array, sections: Sections): void {
  const archive = new Archive(bytes)
  const sheets = listParts(archive, 'xl/workbook.xml', 'sheet')
  const shared = readShared(archive)
  for (const [index, { name = `${index + 1}`, part }] of sheets.entries()) {
    if (sections.isFull) break
    readSheet(archive.read(part) ?? '', shared, sections)
    sections.end(`sheet ${name.slice(0, 64)}`)
  }
}

/** The shared strings, to which cells refer by number. */
function readShared(archive: Archive): string[] {
  const texts: string[] = []
  let pieces: string[] = []
  let isText = false
  // Phonetic hints repeat the text.
  let isPhonetic = false
  readXml(archive.read('xl/sharedStrings.xml') ?? '', {
    open(name) {
      if (name === 't') isText = true
      else if (name === 'rPh') isPhonetic = true
    },
    text(text) {
      if (isText && !isPhonetic) pieces.push(text)
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'rPh') isPhonetic = false
      else if (name === 'si') {
        texts.push(pieces.join(''))
        pieces = []
      }
    },
  })
  return texts
}

function readSheet(xml: string, shared: readonly string[], sections: Sections): void {
  let column = 0
  let written = 0
  let type = ''
  let value = ''
  let isValue = false
  readXml(xml, {
    isEnough: () => sections.isFull,
    open(name, { r, t }) {
      if (name === 'row') column = written = 0
      else if (name === 'c') {
        column = r === undefined ? column + 1 : columnOf(r)
        type = t ?? 'n'
        value = ''
      } else if (name === 'v' || name === 't') isValue = true
    },
    text(text) {
      if (isValue) value += text
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false
      else if (name === 'row') sections.add('\n')
      else if (name === 'c') {
        const text = toText(type, value, shared)
        if (text === '') return
        const gap = Math.max(written === 0 ? column - 1 : column - written, 0)
        sections.add('\t'.repeat(Math.min(gap, gapLimit)) + text)
        written = column
      }
    },
  })
}

function toText(type: string, value: string, shared: readonly string[]): string {
  const text = type === 's' ? (shared[Number(value)] ?? '') : type === 'b' ? (value === '1' ? 'TRUE' : 'FALSE') : value
  return text.replace(/[\t\n\r]+/g, ' ')
}

/** `C7` is in column 3. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64
  return column
}
