import { Parser } from 'htmlparser2'
import { Unreadable } from './format.ts'

/** The most nested elements. Real pages and documents have a few dozen; the parser walks through all open ones. */
const depthLimit = 2_000

/** Characters that are parsed between two checks whether there is enough. */
const pieceLength = 65_536

/** Callbacks for the beginning and end of each element, and for text. */
export interface MarkupReader {
  open?: (name: string, attributes: Record<string, string>) => void
  text?: (text: string) => void
  close?: (name: string) => void
  isEnough?: () => boolean
}

/** Parses HTML as a stream, until there is enough. Throws Unreadable where elements are nested too deeply. */
export function readMarkup(markup: string, reader: MarkupReader, { xmlMode = false } = {}): void {
  const { open, text, close, isEnough = () => false } = reader
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > depthLimit) throw new Unreadable('Its elements are nested too deeply.')
        open?.(name, attributes)
      },
      ...(text && { ontext: text }),
      onclosetag(name) {
        depth--
        close?.(name)
      },
    },
    { xmlMode },
  )
  for (let at = 0; at < markup.length && !isEnough(); at += pieceLength)
    parser.write(markup.slice(at, at + pieceLength))
  parser.end()
}

/**
 * Parses XML as `readMarkup` does HTML; names are without their namespace's prefix. Entities other than XML's own are not
 * expanded, so none can grow.
 */
export function readXml(xml: string, { open, close, ...reader }: MarkupReader): void {
  const local = (name: string) => name.slice(name.indexOf(':') + 1)
  readMarkup(
    xml,
    { ...reader, open: (name, attributes) => open?.(local(name), attributes), close: name => close?.(local(name)) },
    { xmlMode: true },
  )
}
