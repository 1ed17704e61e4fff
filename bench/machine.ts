import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './figures.ts'
import type { Elsewhere } from './elsewhere.ts'
import type { Parley } from './parley.ts'

/** What figures depend on besides the code, and on which machine: for a server elsewhere, that of the load. */
export interface Machine {
  commit: string
  /** Where the server runs; null: on this machine, with all that it needs. */
  elsewhere: string | null
  processor: string
  cores: number
  memoryGiB: number
  kernel: string
  node: string
  postgres: string | null
  /** What it takes to bring 8 KiB to the disk; the least that a commit can take. */
  syncMs: number | null
}

export async function describeMachine(parley: Parley): Promise<Machine> {
  const [row] = await parley.sql<{ server_version: string }[]>`show server_version`
  return {
    ...describeOwn(),
    commit: findCommit(),
    elsewhere: null,
    postgres: row?.server_version ?? 'unknown',
    syncMs: measureSync(),
  }
}

export async function describeElsewhere(server: Elsewhere): Promise<Machine> {
  const { host, port } = server.origins[0]!
  const version = await server.call('GET', '/version')
  return {
    ...describeOwn(),
    commit: `of version ${version.trim()}`,
    elsewhere: `${host}:${port}`,
    postgres: null,
    syncMs: null,
  }
}

function describeOwn() {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
  }
}

/** The commit that is measured, marked where files differ from it. */
function findCommit(): string {
  try {
    const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], options).trim()
  } catch {
    // Not a checkout, or no git.
    return 'unknown'
  }
}

function measureSync(): number {
  const dir = mkdtempSync(join(tmpdir(), 'parley-sync-'))
  const file = openSync(join(dir, 'file'), 'w')
  const page = Buffer.alloc(8192, 1)
  const times = Array.from({ length: 100 }, () => {
    const start = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    return performance.now() - start
  })
  closeSync(file)
  rmSync(dir, { recursive: true })
  return median(times)
}
