import type { ExtractedPart } from './format.ts'

/** Characters of a passage, roughly, and of its overlap with the one before. A rule of the API. */
const passageLength = 3_000
const overlapLength = 300

/** The most passages of one file; the rest is not searched. */
const mostPassages = 2_000

/** The places where a passage may end, the best first. */
const marks = ['\n\n', '\n', '. ', '。', ' ']

/** Cuts a document into passages, at paragraphs where possible, each within one part. Takes linear time. */
export function toPassages(parts: readonly ExtractedPart[]): ExtractedPart[] {
  const passages: ExtractedPart[] = []
  for (const { place, text } of parts) {
    for (let start = 0; start < text.length && passages.length < mostPassages;) {
      const end = endOf(text, start)
      const piece = text.slice(start, end).trim()
      if (piece !== '') passages.push({ place, text: piece.toWellFormed() })
      if (end >= text.length) break
      start = Math.max(end - overlapLength, start + 1)
    }
  }
  return passages
}

/** The last blank line, or else line, sentence or word, that ends in the second half of the passage. */
function endOf(text: string, start: number): number {
  const most = start + passageLength
  if (most >= text.length) return text.length
  const least = start + passageLength / 2
  // In the whole text, each search for a mark that it lacks would go back to its beginning.
  const half = text.slice(least, most)
  for (const mark of marks) {
    const at = half.lastIndexOf(mark)
    if (at !== -1) return least + at + mark.length
  }
  return most
}
