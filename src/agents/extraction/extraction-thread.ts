import { readFile, stat } from 'node:fs/promises'
import { takeTasks } from '../../lib/process/thread.ts'
import { documentLimitBytes, Unreadable, type Extracted, type ExtractionOrder, type TextFormat } from './format.ts'
import { readHtml } from './html.ts'
import { readDocx } from './office/docx.ts'
import { readPptx } from './office/pptx.ts'
import { readXlsx } from './office/xlsx.ts'
import { readPdf } from './pdf.ts'
import { toPassages } from './passages.ts'
import { readPlain } from './plain.ts'
import { Sections } from './sections.ts'

// The thread of the extraction process.
takeTasks(extract)

/** Each adds the text of a document to its sections. */
const readers: Record<TextFormat, (bytes: Uint8Array, sections: Sections) => void | Promise<void>> = {
  text: readPlain,
  html: readHtml,
  pdf: readPdf,
  docx: readDocx,
  xlsx: readXlsx,
  pptx: readPptx,
}

async function extract({ source, format, asPassages }: ExtractionOrder): Promise<Extracted> {
  try {
    // A plain Uint8Array: the PDF reader takes no Buffer.
    const bytes = new Uint8Array(typeof source === 'string' ? await readDocument(source) : source)
    const sections = new Sections()
    await readers[format](bytes, sections)
    return { state: 'done', parts: asPassages === true ? toPassages(sections.list) : sections.list }
  } catch (error) {
    // Any other error is a fault of a reader that this document triggers; its message would help no one.
    return { state: 'failed', reason: error instanceof Unreadable ? error.message : 'It could not be read.' }
  }
}

async function readDocument(path: string): Promise<Uint8Array> {
  if ((await stat(path)).size > documentLimitBytes) throw new Unreadable('It is larger than 20 MiB.')
  return readFile(path)
}
