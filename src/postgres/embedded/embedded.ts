import type { ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, realpathSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartFault } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { findFreePort } from '../../lib/process/free-port.ts'
import { findBinaries, type Binaries } from './binaries.ts'
import { forgetPostmaster, isServed, makeCluster, readPostmaster, requireMajor, toUrl } from './cluster.ts'
import { findOwner, type Owner } from './owner.ts'
import { placeBinaries, placeCluster } from './place.ts'
import { launch, runToEnd } from './programs.ts'
import { toArguments, type ServerNeeds } from './server-settings.ts'

export interface EmbeddedOptions {
  /** The data directory; it exists, and the caller holds its lock. */
  dir: string
  connections: number
  /** False for a database that is thrown away. Default: true. */
  isDurable?: boolean
  log: Log
  /** Called once, when PostgreSQL has ended and could not be restarted. */
  onLost: (error: Error) => void
}

/** The path of a Unix socket has at most 107 bytes on Linux and 103 on macOS; the file name takes 15 of them. */
const socketDirLimit = 88

/** The port is part of the socket's file name. */
const socketPort = 5432

/** Longer than the longest recovery seen of 2 GB of write-ahead log; a guess. */
const startDeadlineMs = 300_000

/** A checkpoint of all of shared_buffers took at most 3 s (measured). */
const fastStopSeconds = 15

/** Attempts of the first start, and the pause before the second, which doubles each time. */
const firstStartAttempts = 4
const restartAttempts = 6
const restartDelayMs = 200

/** After running for this long, a server counts as started well, and its next failure is counted from zero. */
const stableMs = 10_000

/** A database cluster, and what is needed to run it. */
interface Place {
  cluster: string
  binaries: Binaries
  owner: Owner | null
  needs: ServerNeeds
}

/**
 * PostgreSQL as a child process with its data under `dir`. `start` creates the database in a fresh directory, and stops
 * a server that an earlier process left behind (after `kill -9`); recovery loses no acknowledged write. When the server
 * ends unexpectedly, it is restarted a few times. Ended by `stop`, or with this process in any way that lets code run.
 */
export class EmbeddedPostgres {
  /** The URL for `openSql` of this process, psql and pgbench alike. */
  readonly url: string
  readonly #options: EmbeddedOptions
  readonly #place: Place
  readonly #onExit = () => this.#child?.kill('SIGINT')
  #child: ChildProcess | null = null
  #relaunching: Promise<void> | null = null
  /** Resolves when the server has ended and its output has been read. */
  #over: Promise<void> = Promise.resolve()
  #isStopping = false
  #failures = 0

  private constructor(options: EmbeddedOptions, place: Place) {
    this.#options = options
    this.#place = place
    this.url = toUrl(place.cluster, place.needs)
  }

  /** Resolves when the database accepts connections. Rejects with a StartFault that says what to do. */
  static async start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
    const owner = await findOwner()
    const binaries = placeBinaries(await findBinaries(), owner)
    const cluster = placeCluster(options.dir, owner)
    if (!cluster.startsWith(realpathSync(options.dir))) {
      options.log.warn({ cluster }, 'The database lies outside of the data directory, which PostgreSQL cannot reach')
    }
    await makeCluster(cluster, binaries, owner)
    requireMajor(cluster, binaries)
    const { connections, isDurable = true } = options
    const hasSocket = Buffer.byteLength(cluster) <= socketDirLimit
    const address = hasSocket
      ? { socketDir: cluster, port: socketPort }
      : { socketDir: null, port: await findFreePort() }
    const needs = { ...address, connections, isDurable }
    const embedded = new EmbeddedPostgres(options, { cluster, binaries, owner, needs })
    if (isServed(cluster)) {
      options.log.warn({}, 'PostgreSQL is still running from an earlier start; it is stopped first')
      await embedded.#end()
    }
    await embedded.#launchAgain(firstStartAttempts)
    process.once('exit', embedded.#onExit)
    return embedded
  }

  /** The process id of the server, for measurements. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * Stops PostgreSQL; open transactions roll back. Resolves when it has ended, so that the data directory may be
   * removed.
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    process.off('exit', this.#onExit)
    await this.#relaunching
    if (isServed(this.#place.cluster)) await this.#end()
    await this.#over
  }

  async #end(): Promise<void> {
    const { cluster, binaries, owner } = this.#place
    const stop = (mode: string, seconds: number) =>
      runToEnd(binaries.pg_ctl, ['stop', '-w', '-m', mode, '-t', `${seconds}`, '-D', cluster], owner)
    try {
      await stop('fast', fastStopSeconds)
    } catch (error) {
      if (!isServed(cluster)) return
      this.#options.log.warn({ error }, 'PostgreSQL does not stop in time; it will recover at the next start')
      await stop('immediate', 10)
    }
  }

  /** Starts and supervises the server. Rejects with its last output if it ends before it is ready. */
  async #launch(): Promise<void> {
    const logPath = join(this.#options.dir, 'postgres.log')
    const output = openLog(logPath)
    const logStart = fstatSync(output).size
    const { cluster, binaries, owner, needs } = this.#place
    const child = launch(binaries.postgres, ['-D', cluster, ...toArguments(needs)], owner, output)
    closeSync(output)
    const ended = new Promise<never>((_, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => reject(new StartFault(lastWords(signal ?? code, logPath, logStart))))
    })
    await Promise.race([ended, this.#isReady(child)])
    this.#child = child
    const readyAt = Date.now()
    this.#over = ended.catch((error: Error) => {
      this.#child = null
      this.#failures = Date.now() - readyAt > stableMs ? 0 : this.#failures + 1
      if (this.#isStopping) return
      this.#options.log.error({ error }, 'PostgreSQL ended by itself; it is started again')
      this.#relaunching = this.#launchAgain(restartAttempts).then(
        () => this.#options.log.warn({}, 'PostgreSQL is back'),
        (last: Error) => this.#options.onLost(last),
      )
    })
  }

  async #isReady(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + startDeadlineMs
    while (Date.now() < deadline) {
      const postmaster = readPostmaster(this.#place.cluster)
      if (postmaster?.pid === child.pid && postmaster?.isReady) return
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      await delay(20)
    }
    child.kill('SIGQUIT')
    throw new Error(`PostgreSQL was not ready after ${startDeadlineMs / 1000} seconds`)
  }

  /** Launches, repeatedly if necessary: the processes of a killed server may take a moment to let go of its files. */
  async #launchAgain(attempts: number): Promise<void> {
    for (;;) {
      try {
        forgetPostmaster(this.#place.cluster)
        return await this.#launch()
      } catch (error) {
        this.#failures++
        if (this.#failures < attempts) await delay(restartDelayMs * 2 ** this.#failures)
        if (this.#isStopping || this.#failures >= attempts) throw error
      }
    }
  }
}

function openLog(path: string): number {
  // Little is written to the log, but it must not grow without bound.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 8_000_000) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

function lastWords(outcome: string | number | null, logPath: string, logStart: number): string {
  const lines = readFileSync(logPath).subarray(logStart).toString('utf8').trim().split('\n')
  return [`PostgreSQL ended with ${outcome}. Its last words, from ${logPath}:`, ...lines.slice(-5)].join('\n')
}
