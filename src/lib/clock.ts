/** The time and timers, handed in so that tests can move them. */
export interface Clock {
  now(): number
  /** Calls `run` once after `delayMs`, unless the returned function is called first. Keeps no process alive. */
  after(delayMs: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The system's clock, whose timers keep the process alive: for a start that waits, when nothing else would. */
export const wakefulClock: Clock = {
  now: Date.now,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Reads the clock as dates. */
export function datesOf(clock: Clock): () => Date {
  return () => new Date(clock.now())
}

/** Resolves after `delayMs`; where the signal aborts before, rejects with its reason. */
export async function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = () => reject(signal!.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const cancel = clock.after(delayMs, resolve)
  try {
    await promise
  } finally {
    cancel()
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * Settles like `work`, or returns or throws what `onTimeout` does if that takes longer than `timeoutMs`; `work` is not
 * stopped, and its late result is ignored.
 */
export async function withTimeout<Result, Late>(
  work: Promise<Result>,
  { clock, timeoutMs, onTimeout }: { clock: Clock; timeoutMs: number; onTimeout: () => Late },
): Promise<Result | Late> {
  const late = Promise.withResolvers<Late>()
  const cancel = clock.after(timeoutMs, () => {
    try {
      late.resolve(onTimeout())
    } catch (error) {
      late.reject(error)
    }
  })
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}

/** Calls `run` repeatedly, each time `periodMs` after the last call has ended, until `signal` aborts. */
export function every(clock: Clock, periodMs: number, signal: AbortSignal, run: () => Promise<void> | void): void {
  everyWhile(clock, periodMs, signal, async () => {
    await run()
    return true
  })()
}

/**
 * Calls `run` as `every` does, but only while it is needed: from a call of the returned function on, until `run` answers
 * that nothing is left to come round for. So a process with nothing to do is not woken.
 */
export function everyWhile(
  clock: Clock,
  periodMs: number,
  signal: AbortSignal,
  run: () => Promise<boolean> | boolean,
): () => void {
  let isOn = false
  let isNeeded = false
  const begin = () => {
    isNeeded = true
    if (isOn || signal.aborted) return
    isOn = true
    const cancel = clock.after(periodMs, async () => {
      signal.removeEventListener('abort', cancel)
      isNeeded = false
      const isLeft = await run()
      isOn = false
      // It may have become needed for something else meanwhile.
      if (isLeft || isNeeded) begin()
    })
    signal.addEventListener('abort', cancel, { once: true })
  }
  return begin
}
