import { tell, StartFault } from '../../lib/errors.ts'
import { FileLine } from './format.ts'

/** A validated line of a file, with its number. */
export type Numbered<Line extends FileLine = FileLine> = Line & { number: number }

/** Far above the longest line that the format allows; without a limit, a file without line feeds would fill the memory. */
const longestLine = 4 * 1024 * 1024

const lineFeed = 10

/** The lines of a file, each validated. StartFault with its number for the first that is wrong. */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Numbered> {
  let number = 0
  for await (const text of split(source)) {
    number++
    if (text.trim() !== '') yield toLine(parse(text, number), number)
  }
}

/** StartFault that names the line, by default by its number, and the field. */
export function toLine(value: unknown, number: number, name = `Line ${number}`): Numbered {
  const { success, data, error } = FileLine.safeParse(value)
  if (success) return Object.assign(data, { number })
  const errors: Record<string, string[]> = {}
  for (const { path, message } of error.issues) (errors[path.join('.') || 'The line'] ??= []).push(message)
  throw new StartFault(`${name}: ${tell(errors)}`)
}

export function fault(line: number, sentence: string): StartFault {
  return new StartFault(`Line ${line}: ${sentence}`)
}

function parse(text: string, number: number): unknown {
  // PostgreSQL stores no NUL.
  if (text.includes('\\u0000')) throw fault(number, 'It contains \\u0000, which is not a character.')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fault(number, `It is not JSON: ${(error as Error).message}.`)
  }
}

async function* split(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let size = 0
  for await (const piece of source) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString()
      rest = []
      size = 0
      start = end + 1
    }
    rest.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > longestLine) throw new StartFault(`A line is longer than ${longestLine} bytes.`)
  }
  if (size > 0) yield Buffer.concat(rest).toString()
}
