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
