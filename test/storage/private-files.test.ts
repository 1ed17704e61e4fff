import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { runAdmin } from '../support/admin.ts'
import { createDatabase } from '../support/database.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { upload } from '../support/uploads.ts'

const main = join(import.meta.dirname, '../../src/main.ts')
/** A node for whose files the umask takes nothing away. */
const command = ['sh', '-c', 'umask 000; exec "$@"', 'sh', process.execPath, '--no-warnings', main]
/** As root, PostgreSQL runs as another user, which passes through the data directory. */
const isRoot = process.getuid?.() === 0

test.each(['of its own', 'elsewhere'])(
  'whatever the umask, files are for their user alone, and so are folders; with a database %s',
  { timeout: 120_000 },
  async where => {
    await using dir = createDirectory()
    await using database = await createDatabase()
    const DATA_DIR = join(dir.path, 'data')
    const url: Record<string, string> = where === 'elsewhere' ? { DATABASE_URL: database.url } : {}

    const node = await startProgram(dir, { DATA_DIR, ...url }, { command })
    await upload(node.admin, { name: 'a.txt', content: 'hello' })
    const backup = await runAdmin(dir, { DATA_DIR, ...url }, 'backup', join(DATA_DIR, 'parley.tar'))
    expect(backup.code).toBe(0)

    const found = walk(DATA_DIR).map(path => {
      const { mode } = statSync(path)
      return `${relative(DATA_DIR, path) || '.'} ${(mode & 0o777).toString(8)}`
    })
    process.kill(-node.pid, 'SIGTERM')
    await node.ended
    const wrong = found.filter(line => !/ [67]00$/.test(line))
    expect(wrong).toEqual(isRoot && where === 'of its own' ? ['. 711'] : [])
    expect(found).toEqual(
      expect.arrayContaining(['blobs 700', 'blobs/.uploads 600', 'blobs/incoming 700', 'parley.tar 600']),
    )
  },
)

/** The folder and all that is in it, without what PostgreSQL itself makes. */
function walk(folder: string): string[] {
  return [
    folder,
    ...readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
      const path = join(folder, entry.name)
      return entry.isDirectory() && entry.name !== 'postgres' ? walk(path) : [path]
    }),
  ]
}
