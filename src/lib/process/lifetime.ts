import { StartFault } from '../errors.ts'

/** A node that runs until it is stopped. */
export interface Running {
  /** Resolves when it has stopped completely. Never rejects. */
  stop(): Promise<void>
  /** Resolves with the reason when it cannot continue. */
  failed: Promise<Error>
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** npm forwards a Ctrl-C that the terminal has already delivered: two signals within this time count as one. */
const sameSignalMs = 1000

/**
 * Runs a node as this process: `start`, then until SIGTERM, SIGINT or SIGHUP, which stop it in order with exit code 0,
 * and abort the signal that `start` is given, which may then reject with its reason;
 * a second signal ends the process immediately. An uncaught error ends it with exit code 1, because its state may be
 * inconsistent; a supervisor restarts it.
 */
export async function runAsProcess(start: (signal: AbortSignal) => Promise<Running>): Promise<void> {
  const stopping = new AbortController()
  const signalled = new Promise<void>(resolve => {
    let firstAt = 0
    const onSignal = () => {
      if (firstAt > 0 && performance.now() - firstAt > sameSignalMs) process.exit(1)
      firstAt ||= performance.now()
      stopping.abort()
      resolve()
    }
    for (const signal of signals) process.on(signal, onSignal)
  })
  // The reader of the output may be gone, such as a closed terminal: no reason to end in the middle of something.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
  try {
    const running = await start(stopping.signal)
    const failure = await Promise.race([running.failed, signalled])
    await running.stop()
    if (failure !== undefined) die(failure)
  } catch (error) {
    // A start that only waited has been told to end.
    if (error !== stopping.signal.reason) die(error)
  }
  process.exit(0)
}

/**
 * Runs a command as this process: exit code 0, or 1 with the reason. A signal rejects the promise that the command is
 * given, so that it can clean up; a second one ends the process immediately.
 */
export async function runAsCommand(run: (stopped: Promise<never>) => Promise<void>): Promise<void> {
  const stopped = new Promise<never>((_, reject) => {
    for (const signal of signals) {
      process.once(signal, () => reject(new StartFault(`Ended by ${signal}.`)))
    }
  })
  stopped.catch(() => {})
  try {
    await run(stopped)
  } catch (error) {
    die(error)
  }
  process.exit(0)
}

function die(error: unknown): never {
  // A fault of configuration tells the operator what to do; a bug shows its stack.
  process.stderr.write(error instanceof StartFault ? `${error.message}\n` : `${describe(error)}\n`)
  process.exit(1)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? `${error.stack}` : `${error.stack}\nCaused by: ${describe(error.cause)}`
}
