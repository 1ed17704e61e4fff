import { getDocumentProxy } from 'unpdf'
import { Unreadable } from './format.ts'
import type { Sections } from './sections.ts'

/** The text of each page, in the order of the file. Scanned pages have none. */
export async function readPdf(bytes: Uint8Array, sections: Sections): Promise<void> {
  const document = await getDocumentProxy(bytes, {
    // Fonts are needed for drawing only.
    useSystemFonts: false,
    disableFontFace: true,
    verbosity: 0,
  }).catch((cause: unknown) => {
    const isLocked = cause instanceof Error && cause.name === 'PasswordException'
    throw new Unreadable(isLocked ? 'It asks for a password.' : 'It is no PDF.', { cause })
  })
  for (let number = 1; number <= document.numPages && !sections.isFull; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    for (const item of items) if ('str' in item) sections.add(item.hasEOL ? `${item.str}\n` : item.str)
    sections.end(`page ${number}`)
    page.cleanup()
  }
}
