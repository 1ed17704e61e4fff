import { Unreadable } from './format.ts'
import type { Sections } from './sections.ts'

/** Text as UTF-8, or as UTF-16 where its first bytes say so; invalid bytes are replaced. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}

export function readPlain(bytes: Uint8Array, sections: Sections): void {
  const text = decodeText(bytes)
  // No text contains NUL, whatever its name says.
  if (text.includes('\0')) throw new Unreadable('It is no text.')
  sections.add(text)
  sections.end(null)
}
