import { z } from 'zod'
import { StartFault } from '../../../lib/errors.ts'
import type { DraftLine } from '../format.ts'
import { toLine, type Numbered } from '../lines.ts'
import { convertSlack } from './slack.ts'
import { convertStream } from './stream.ts'

/** Reads the export of another product at a path, as lines of a file of ours. */
export type Converter = (path: string) => AsyncIterable<Numbered>

export const converters: Record<string, Converter> = {
  slack: validated(convertSlack),
  stream: validated(convertStream),
}

/** StartFault where the export is not of the form that the product describes. */
function validated(convert: (path: string) => Iterable<DraftLine>): Converter {
  return async function* (path) {
    let number = 0
    try {
      for (const line of convert(path)) yield toLine(line, ++number, nameOf(line))
    } catch (error) {
      if (error instanceof z.ZodError)
        throw new StartFault(`${path} cannot be read: ${z.prettifyError(error)}`, { cause: error })
      if (error instanceof SyntaxError) throw new StartFault(`${path} is not JSON: ${error.message}`, { cause: error })
      throw error
    }
  }
}

function nameOf(line: DraftLine): string {
  return 'id' in line ? `The ${line.type} ${line.id}` : `A ${line.type}`
}
