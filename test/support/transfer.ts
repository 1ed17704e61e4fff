import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { check } from '../../src/cli/check/check.ts'
import { Progress } from '../../src/cli/progress.ts'
import { exportLines } from '../../src/cli/transfer/export/export.ts'
import { importLines } from '../../src/cli/transfer/import/import.ts'
import { readLines } from '../../src/cli/transfer/lines.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { createLog } from '../../src/lib/log.ts'
import { UploadRoom } from '../../src/resources/blobs/uploads/room.ts'
import { dataDirOf } from './database.ts'

const bytesOf = (url: string) => new DiskBytes(join(dataDirOf(url), 'blobs'))

/** A line of a file, as JSON. */
export type Line = { type: string } & Record<string, unknown>

export async function exported(url: string, only: { app?: string; user?: string } = {}): Promise<Line[]> {
  const lines: Line[] = []
  const source = exportLines({ url, bytes: bytesOf(url), only, progress: new Progress() })
  for await (const line of source) lines.push(JSON.parse(JSON.stringify(line)) as Line)
  return lines
}

/**
 * Lines with what they are in their file instead of the ids that the deployment gave them, in the order in which ids first
 * occur: equal for two deployments that hold the same.
 */
export function withoutIds(lines: readonly Line[]): Line[] {
  const known = new Map<string, string>()
  const rename = (space: string, ref: string) => {
    if (/^(?:system|deleted)$/.test(ref)) return ref
    if (!known.has(`${space}:${ref}`)) known.set(`${space}:${ref}`, `${space} ${known.size}`)
    return known.get(`${space}:${ref}`)!
  }
  const renameAll = (value: unknown, name: string, type: string): unknown => {
    const space = spaces[name === 'id' ? type : name]
    if (Array.isArray(value)) return value.map(one => renameAll(one, name, type))
    if (space !== undefined && value !== null && typeof value !== 'object') return rename(space, String(value))
    if (name === 'text' && typeof value === 'string')
      return value.replace(/\(@u(\d+)\)/g, (_, id: string) => `(@${rename('user', id)})`)
    if (value === null || typeof value !== 'object' || /^(?:metadata|raw)$/.test(name)) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, renameAll(one, key, type)]))
  }
  return lines.filter(({ type }) => type !== 'header').map(line => renameAll(line, '', line.type) as Line)
}

/** The members of lines that hold an id, and whose; what an id is the id of, by the type of its line. */
const spaces: Record<string, string> = {
  ...{ user: 'user', followed: 'user', owner: 'user', created_by: 'user', updated_by: 'user', pair: 'user' },
  ...{ mentions: 'user', directory: 'directory', directories: 'directory', app: 'app', blob: 'blob', image: 'blob' },
  ...{ item: 'item', parent: 'item', marked: 'item', archived: 'item', hidden: 'item' },
  ...{ message: 'item', post: 'item', comment: 'item', file: 'item' },
}

export function imported(url: string, lines: readonly object[], isDryRun = false) {
  const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  return importLines({
    ...{ url, bytes: bytesOf(url), isDryRun, progress: new Progress(), log: createLog('error') },
    uploadRoom: new UploadRoom({ folder: null, floorBytes: 0, quotaBytes: null }),
    lines: readLines(Readable.from([Buffer.from(text)])),
  })
}

export function writeLines(path: string, lines: readonly object[]): void {
  writeFileSync(path, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
}

/** The number of derived values and files that are wrong. */
export async function countWrong(url: string): Promise<number> {
  const { wrong, missing } = await check({ url, bytes: bytesOf(url), repairs: false, progress: new Progress() })
  return wrong + missing
}
