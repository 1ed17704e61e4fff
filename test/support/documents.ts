import { zipSync } from 'fflate'

// Documents as office programs write them, with nothing in them but what is asked for.

type Entries = Record<string, string | Buffer>

export function writeZip(entries: Entries): Buffer {
  const files = Object.entries(entries).map(([name, content]) => [name, Buffer.from(content)] as const)
  return Buffer.from(zipSync(Object.fromEntries(files), { level: 1 }))
}

/** The body of a Word document: what stands between `<w:body>` and its end. */
export function writeDocx(body: string, more: Entries = {}): Buffer {
  const xml = `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`
  return writeZip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': xml, ...more })
}

export const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

const relation = (id: string, target: string) => `<Relationship Id="${id}" Target="${target}"/>`
const relations = (list: string[]) => `<Relationships>${list.join('')}</Relationships>`

/** Slides in the order in which they are shown; their files are numbered the other way round. */
export function writePptx(slides: string[]): Buffer {
  const fileOf = (index: number) => `slides/slide${slides.length - index}.xml`
  const ids = slides.map((_, index) => `<p:sldId r:id="rId${index}"/>`).join('')
  return writeZip({
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(slides.map((_, index) => relation(`rId${index}`, fileOf(index)))),
    ...Object.fromEntries(
      slides.map((text, index) => [`ppt/${fileOf(index)}`, `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`]),
    ),
  })
}

/** One sheet: its rows as XML, and the texts that cells refer to by number. */
export function writeXlsx(name: string, rows: string, shared: string[] = []): Buffer {
  return writeZip({
    'xl/workbook.xml': `<workbook><sheets><sheet name="${name}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([relation('rId1', 'worksheets/sheet1.xml')]),
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst>${shared.map(text => `<si><t>${text}</t></si>`).join('')}</sst>`,
  })
}

interface PdfObjects {
  /** What the pages hold, as operators. */
  pages: (string | Buffer)[]
  /** Of their content streams, as in `/Filter /FlateDecode`. */
  filter?: string
}

/** A PDF with one font, as old programs wrote them. */
export function writePdf({ pages, filter = '' }: PdfObjects): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  for (const [index, page] of pages.entries()) {
    const content = Buffer.from(page)
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      Buffer.concat([
        Buffer.from(`<< /Length ${content.length} ${filter} >>\nstream\n`),
        content,
        Buffer.from('\nendstream'),
      ]),
    )
  }
  return writePdfObjects(objects)
}

/** Objects by number, from 1 on; the first is the catalogue. */
export function writePdfObjects(objects: (string | Buffer)[]): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = parts[0]!.length
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')])
    offsets.push(length)
    parts.push(part)
    length += part.length
  }
  const entries = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`
  parts.push(Buffer.from(`${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF`))
  return Buffer.concat(parts)
}

/** Operators that write a line of text. */
export const line = (text: string) => `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`
