import type { Parser } from 'htmlparser2'
import { Unreadable } from './format.ts'

/** Elements inside each other. Real pages and documents have a few dozen; the parser walks through all that are open. */
const depthLimit = 2_000

/** Characters that are parsed at once: between them is looked whether there is enough. */
const pieceLength = 65_536

/** Counts the elements that are open, and refuses what is nested to do harm. */
export function guardDepth() {
  let depth = 0
  return {
    open(): void {
      if (++depth > depthLimit) throw new Unreadable('Its elements are nested too deeply.')
    },
    close(): void {
      depth--
    },
  }
}

/** Parses a text, or as much of it as is needed. */
export function feed(parser: Parser, text: string, isEnough: () => boolean): void {
  for (let at = 0; at < text.length && !isEnough(); at += pieceLength) parser.write(text.slice(at, at + pieceLength))
  parser.end()
}
