import type { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Bytes } from '../../storage/bytes.ts'
import type { FileRow } from './schema.ts'

/** Types that do not become smaller. */
const compressed = /^(?:image\/(?!svg|bmp|tiff)|audio\/|video\/|application\/(?:zip|pdf|x-7z|vnd\.openxml))/

/**
 * A ZIP of files, made while it is read: one file is open at a time, and nothing is kept. It fails where the bytes of a
 * file cannot be read, so that nobody takes half an archive for a whole one.
 */
export function zipFiles(files: readonly FileRow[], bytes: Bytes): Readable {
  const zip = new ZipFile()
  const output = zip.outputStream as unknown as Readable
  let current: Readable | null = null
  for (const [name, { blob, updated_at, created_at }] of nameEach(files)) {
    const options = { mtime: updated_at ?? created_at, compress: !compressed.test(blob.media_type) }
    zip.addReadStreamLazy(name, options, done => {
      bytes.open(blob.key!).then(
        source => {
          if (source === null) return output.destroy(new Error('The bytes of a file are gone'))
          // Whoever stopped reading meanwhile would leave it open.
          if (output.destroyed) return source.destroy()
          current = source
          source.once('error', error => output.destroy(error))
          return done(null, source)
        },
        (error: Error) => output.destroy(error),
      )
    })
  }
  output.once('close', () => current?.destroy())
  zip.end()
  return output
}

/** Names without regard to case, because some systems have none: the second `a.txt` is `a (2).txt`. */
function nameEach(files: readonly FileRow[]): [string, FileRow][] {
  const taken = new Set<string>()
  return files.map(file => {
    const whole = toEntryName(file.name)
    const dot = whole.lastIndexOf('.')
    const [stem, extension] = dot > 0 ? [whole.slice(0, dot), whole.slice(dot)] : [whole, '']
    let name = whole
    for (let copy = 2; taken.has(name.toLowerCase()); copy++) name = `${stem} (${copy})${extension}`
    taken.add(name.toLowerCase())
    return [name, file]
  })
}

/** Programs that unpack archives would take the rest for folders. */
function toEntryName(name: string): string {
  return /^\.\.?$/.test(name) ? name.replaceAll('.', '_') : name.replace(/[/\\:]/g, '_')
}
