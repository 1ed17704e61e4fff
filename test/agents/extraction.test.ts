import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, deflateRawSync, deflateSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { Extractor } from '../../src/agents/extraction/extractor.ts'
import { Unreadable, type ExtractedPart, type TextFormat } from '../../src/agents/extraction/format.ts'
import {
  line,
  paragraph,
  writeDocx,
  writePdf,
  writePdfObjects,
  writePptx,
  writeXlsx,
  writeZip,
} from '../support/documents.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-extraction-'))
const extractor = new Extractor()
afterAll(() => {
  extractor.stop()
  rmSync(folder, { recursive: true })
})

test('text is read as UTF-8 or UTF-16, without its byte order mark, and invalid bytes are replaced', async () => {
  const utf8 = await read('text', Buffer.from('\ufeffGrüße'))
  const utf16 = await read('text', Buffer.from('\ufeffGrüße', 'utf16le'))
  const broken = await read('text', Buffer.from([0x61, 0xff, 0x62]))

  expect([utf8, utf16, broken]).toEqual([text('Grüße'), text('Grüße'), text('a\ufffdb')])
})

test('bytes that are no text are none, whatever they are called', async () => {
  expect(await read('text', Buffer.from([0x7f, 0x45, 0, 0, 1]))).toEqual(failed('It is no text.'))
})

test('a page has its words, without markup, scripts and styles', async () => {
  const page = `<!doctype html><title>Prices</title><style>p{}</style><script>var a = "<p>no</p>"</script>
    <h1>All   prices</h1><p>Tea &amp; cake</p><table><tr><td>Tea<td>3</table><noscript>no</noscript>`

  expect(await read('html', Buffer.from(page))).toEqual(text('Prices\n\nAll prices\n\nTea & cake\n\nTea\t3'))
})

test('a PDF has the text of each of its pages', async () => {
  const pdf = writePdf({ pages: [line('The first page'), '', line('The third page')] })

  expect(await read('pdf', pdf)).toEqual({
    state: 'done',
    parts: [
      { place: 'page 1', text: 'The first page' },
      { place: 'page 3', text: 'The third page' },
    ],
  })
})

test('a Word document has its paragraphs and tables, and nothing twice', async () => {
  const cell = (words: string) => `<w:tc>${paragraph(words)}</w:tc>`
  const body =
    paragraph('Tea &amp; cake') +
    `<mc:AlternateContent><mc:Choice>${paragraph('Once')}</mc:Choice><mc:Fallback>${paragraph('Once')}</mc:Fallback></mc:AlternateContent>` +
    `<w:tbl><w:tr>${cell('Tea')}${cell('3')}</w:tr></w:tbl>` +
    '<w:p><w:del><w:r><w:delText>Deleted</w:delText></w:r></w:del></w:p>'
  const notes = `<w:footnotes>${paragraph('A note')}</w:footnotes>`

  const found = await read('docx', writeDocx(body, { 'word/footnotes.xml': notes }))

  expect(found).toEqual(text('Tea & cake\nOnce\nTea \t3\n\nA note'))
})

test('slides are read in the order in which they are shown', async () => {
  expect(await read('pptx', writePptx(['Welcome', 'Prices']))).toEqual({
    state: 'done',
    parts: [
      { place: 'slide 1', text: 'Welcome' },
      { place: 'slide 2', text: 'Prices' },
    ],
  })
})

test('the cells of a sheet stand in their columns', async () => {
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Price</t></is></c></row>' +
    '<row r="2"><c r="B2"><v>7</v></c><c r="C2"><f>1+2</f><v>3.5</v></c><c r="D2" t="b"><v>1</v></c></row>'

  const found = await read('xlsx', writeXlsx('Budget', rows, ['Name']))

  expect(found).toEqual({ state: 'done', parts: [{ place: 'sheet Budget', text: 'Name\t\tPrice\n\t7\t3.5\tTRUE' }] })
})

test('an archive that unpacks to far more than it takes is not unpacked', async () => {
  const bomb = writeZip({ 'word/document.xml': Buffer.alloc(201 * 1024 * 1024) })

  expect(await read('docx', bomb)).toEqual(failed('It unpacks to more than 200 MiB.'))
})

test('an archive that lies about how large its entries are unpacks to no more than it says', async () => {
  const honest = writeDocx(paragraph('Hello ').repeat(20_000))
  const lying = Buffer.from(honest)
  const central = lying.lastIndexOf(Buffer.from('504b0102', 'hex'))
  lying.writeUInt32LE(500, central + 24)

  const found = await read('docx', lying)

  expect(found.parts?.[0]!.text.length ?? 0).not.toBeGreaterThan(500)
})

test('an archive of ten thousand entries is refused', async () => {
  const entries = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`word/${index}.xml`, 'x']))

  expect(await read('docx', writeZip(entries))).toEqual(failed('It has more than 2000 entries.'))
})

test('elements nested a hundred thousand deep are refused, in XML and in HTML', async () => {
  const deep = await read('docx', writeDocx('<w:p>'.repeat(100_000)))
  const page = await read('html', Buffer.from('<div>'.repeat(1_000_000)))

  expect([deep, page]).toEqual(Array(2).fill(failed('Its elements are nested too deeply.')))
})

test('entities that would grow are not expanded', async () => {
  const entities = Array.from({ length: 20 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')
  const xml = `<!DOCTYPE x [<!ENTITY e0 "ha">${entities}]><w:document>${paragraph('&e20;')}</w:document>`

  expect(await read('docx', writeZip({ 'word/document.xml': xml }))).toEqual(text('&e20;'))
})

test('a PDF whose pages contain themselves ends', async () => {
  const loop = writePdfObjects(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>'])

  expect((await read('pdf', loop)).state).toBe('failed')
})

// It gives way to whatever else the machine does.
test('a PDF that unpacks to gigabytes costs its process, and the next document is read', async () => {
  const mebibyte = deflateRawSync(Buffer.alloc(1024 * 1024, ' '), { finishFlush: constants.Z_SYNC_FLUSH })
  const stream = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array<Buffer>(2_000).fill(mebibyte)])
  const bomb = writePdf({ pages: [deflateSync(stream)], filter: '/Filter [/FlateDecode /FlateDecode]' })

  const [first, next] = await Promise.all([read('pdf', bomb), read('text', Buffer.from('Hello'))])

  expect(bomb.length).toBeLessThan(1_000_000)
  expect(first).toEqual(failed('Reading it takes more time or memory than a document may take.'))
  expect(next).toEqual(text('Hello'))
}, 180_000)

test('a document that says nothing of use fails alone', async () => {
  const garbage = Buffer.from('PK\x03\x04 this is not what it says it is')

  const outcomes = await Promise.all((['pdf', 'docx', 'xlsx', 'pptx'] as const).map(format => read(format, garbage)))

  expect(outcomes.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed', 'failed'])
})

const text = (found: string): Outcome => ({ state: 'done', parts: [{ place: null, text: found }] })
const failed = (reason: string): Outcome => ({ state: 'failed', reason })

interface Outcome {
  state: 'done' | 'failed'
  parts?: ExtractedPart[]
  reason?: string
}

let written = 0

/** By path or as bytes, in turns. */
async function read(format: TextFormat, content: Uint8Array): Promise<Outcome> {
  const path = join(folder, `${++written}`)
  writeFileSync(path, content)
  const source = written % 2 === 0 ? path : content
  try {
    return { state: 'done', parts: await extractor.read({ format, source }, AbortSignal.timeout(180_000)) }
  } catch (error) {
    if (error instanceof Unreadable) return failed(error.message)
    throw error
  }
}
