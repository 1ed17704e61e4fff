import type { Parser } from 'htmlparser2'
import { Unreadable } from './format.ts'

/** The most nested elements. Real pages and documents have a few dozen; the parser walks through all open ones. */
const depthLimit = 2_000

/** Characters that are parsed between two checks whether there is enough. */
const pieceLength = 65_536

/** Counts open elements, and throws Unreadable beyond the limit. */
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

/** Parses a text until `isEnough`. */
export function feed(parser: Parser, text: string, isEnough: () => boolean): void {
  for (let at = 0; at < text.length && !isEnough(); at += pieceLength) parser.write(text.slice(at, at + pieceLength))
  parser.end()
}
