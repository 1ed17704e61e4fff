import type { ExtractedPart } from './extraction.ts'
import { textLimit } from './format.ts'

/** Gathers the text of a document, part by part, until there is enough. */
export class Sections {
  readonly list: ExtractedPart[] = []
  #pieces: string[] = []
  #left = textLimit

  /** Nothing more is kept. */
  get isFull(): boolean {
    return this.#left <= 0
  }

  add(text: string): void {
    if (this.isFull) return
    this.#pieces.push(text.length > this.#left ? text.slice(0, this.#left) : text)
    this.#left -= text.length
  }

  /** What was added since the last end is one part. Parts without text are left out. */
  end(place: string | null): void {
    const text = tidy(this.#pieces.join(''))
    this.#pieces = []
    if (text !== '') this.list.push({ place, text })
  }
}

/** PostgreSQL refuses NUL. Runs of blank lines, and spaces before the end of a line, say nothing. */
function tidy(text: string): string {
  return text
    .replaceAll('\0', '')
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t\u00a0]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
