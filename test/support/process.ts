import { spawn, type SpawnOptions } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isServed, readPostmaster } from '../../src/postgres/embedded/cluster.ts'
import { client, type Client } from './client.ts'
import { eventually } from './eventually.ts'

const main = join(import.meta.dirname, '../../src/main.ts')

/** The real program in a process of its own. */
export interface Program extends AsyncDisposable {
  pid: number
  /** Everything that it has printed so far, errors and log lines included. */
  output(): string
  kill(signal: NodeJS.Signals): void
  /** Closes the reading end of what it prints, as a terminal does that is closed. */
  deafen(): void
  /** Exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

/** A program that is ready for requests. */
export interface ReadyProgram extends Program {
  url: string
  admin: Client
}

/** The API key of programs that tests start, unless they set another. */
export const programKey = 'wys_a-key-for-programs-that-is-long-enough'

type Environment = Record<string, string>

interface LaunchOptions extends SpawnOptions {
  /** What to run instead of the program itself, such as npm; it is ended with all that it starts. */
  command?: string[]
}

/** Starts the program with these settings and nothing else of our environment. Ended with SIGKILL at the latest. */
export function launchProgram(
  dir: TemporaryDirectory,
  environment: Environment,
  { command, ...user }: LaunchOptions = {},
): Program {
  const [file, ...args] = command ?? [process.execPath, '--disable-warning=ExperimentalWarning', main]
  const child = spawn(file!, args, {
    cwd: dir.path,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: dir.path, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: command !== undefined,
    ...user,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal!))
  })
  return {
    pid: child.pid!,
    output: () => output,
    kill: signal => void child.kill(signal),
    ended,
    deafen() {
      child.stdout?.destroy()
      child.stderr?.destroy()
    },
    async [Symbol.asyncDispose]() {
      if (command === undefined) child.kill('SIGKILL')
      else killGroup(child.pid!)
      await ended
    },
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}

/** Starts the program and waits until it says where it listens. Throws what it printed if it ends before. */
export async function startProgram(
  dir: TemporaryDirectory,
  environment: Environment = {},
  options: LaunchOptions = {},
): Promise<ReadyProgram> {
  const program = launchProgram(dir, { API_KEY: programKey, ...environment }, options)
  let outcome: number | string | null = null
  void program.ended.then(end => (outcome = end))
  const url = await eventually(
    () => {
      const address = /listens on (\S+)/.exec(program.output())?.[1]
      if (address === undefined && outcome === null) throw new Error(`not ready yet: ${program.output()}`)
      return address
    },
    { timeoutMs: 90_000 },
  ).catch(async (error: unknown) => {
    // Nobody else knows of it.
    await program[Symbol.asyncDispose]()
    throw error
  })
  if (url === undefined) throw new Error(`The program ended with ${outcome}: ${program.output()}`)
  return { ...program, url, admin: client(url, environment.API_KEY ?? programKey) }
}

export interface TemporaryDirectory extends AsyncDisposable {
  path: string
}

/**
 * A data directory to throw away, together with a PostgreSQL that a killed program may have left in it. `name` is what
 * it is called inside of a temporary folder; with `isClosed`, only its owner may enter that folder.
 */
export function createDirectory({ name = 'data', isClosed = false } = {}): TemporaryDirectory {
  const outer = mkdtempSync(join(tmpdir(), 'parley-start-'))
  // mkdtemp makes folders for their owner alone; PostgreSQL runs as another user where we are root.
  if (!isClosed) chmodSync(outer, 0o755)
  const path = join(outer, name)
  mkdirSync(path)
  return {
    path,
    async [Symbol.asyncDispose]() {
      killPostgres({ path }, 'SIGQUIT')
      const cluster = lstatSync(join(path, 'postgres'), { throwIfNoEntry: false })
      if (cluster?.isSymbolicLink()) rmSync(dirname(readlinkSync(join(path, 'postgres'))), { recursive: true })
      await eventually(() => rmSync(outer, { recursive: true, force: true }))
    },
  }
}

/** Signals the embedded PostgreSQL of a data directory, if one is running. */
export function killPostgres({ path }: { path: string }, signal: NodeJS.Signals): void {
  const link = join(path, 'postgres')
  const cluster = existsSync(link) ? realpathSync(link) : link
  const postmaster = readPostmaster(cluster)
  if (postmaster !== null && isServed(cluster)) signalled(postmaster.pid, signal)
}

/** Signals every connection's backend of an embedded PostgreSQL; how many there were. Linux only: it looks into /proc. */
export function killBackends({ path }: { path: string }, signal: NodeJS.Signals): number {
  const postmaster = readFileSync(join(path, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]
  const backends = readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && isBackend(pid, postmaster!))
  return backends.filter(pid => signalled(Number(pid), signal)).length
}

/** False where the process has ended meanwhile. */
function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

function isBackend(pid: string, postmaster: string): boolean {
  try {
    const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
    return parent === postmaster && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('postgres: parley')
  } catch {
    // It ended between the look into the folder and the look at the file.
    return false
  }
}
