import { Parser } from 'htmlparser2'
import { feed, guardDepth } from '../markup.ts'

/** Callbacks for the beginning and end of each element, and for text; names are without their namespace's prefix. */
export interface XmlReader {
  open?: (name: string, attributes: Record<string, string>) => void
  text?: (text: string) => void
  close?: (name: string) => void
  isEnough?: () => boolean
}

/** Parses XML as a stream. Entities other than XML's own are not expanded, so none can grow. */
export function readXml(xml: string, { open, text, close, isEnough = () => false }: XmlReader): void {
  const guard = guardDepth()
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        guard.open()
        open?.(localName(name), attributes)
      },
      ...(text && { ontext: text }),
      onclosetag(name) {
        guard.close()
        close?.(localName(name))
      },
    },
    { xmlMode: true },
  )
  feed(parser, xml, isEnough)
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)
