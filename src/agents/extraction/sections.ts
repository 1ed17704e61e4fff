import { textLimit, type ExtractedPart } from './format.ts'

/** Collects the text of a document, part by part, up to the limit. */
export class Sections {
  readonly list: ExtractedPart[] = []
  #pieces: string[] = []
  #left = textLimit

  /** True once the limit is reached. */
  get isFull(): boolean {
    return this.#left <= 0
  }

  add(text: string): void {
    if (this.isFull) return
    this.#pieces.push(text.length > this.#left ? text.slice(0, this.#left) : text)
    this.#left -= text.length
  }

  /** Ends a part: the text added since the last end, as `finish` leaves it. Parts without text are left out. */
  end(place: string | null, finish = (text: string) => text): void {
    const text = tidy(this.#pieces.join(''))
    this.#pieces = []
    if (text !== '') this.list.push({ place, text: finish(text) })
  }
}

/** Removes NUL, which PostgreSQL refuses, and meaningless runs of blank lines and trailing spaces. */
function tidy(text: string): string {
  return (
    text
      .replaceAll('\0', '')
      .replace(/\r\n?/g, '\n')
      // Without the look behind, each space of a long run would be tried as its first.
      .replace(/(?<![ \t\u00a0])[ \t\u00a0]+\n/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  )
}
