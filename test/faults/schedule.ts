import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'

export interface Schedule {
  /** How many faults at most. */
  faults: number
  /** How long faults are begun at most. */
  minutes: number
  random: Random
  recorder: Recorder
  /** Told a line before each fault. */
  say: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Faults that are there at the same time. */
const together = 2

/** The longest time between the beginnings of two faults, unless the first one has to end before. */
const longestPauseMs = 1_500

/** Before the first fault and after the last one people do something, however busy the machine is. */
const leastRequests = 50

/** Breaks one thing after the other, and resolves when everything is whole again. Rejects where something cannot be mended. */
export async function inflict(drawn: Iterator<Fault, never>, schedule: Schedule): Promise<void> {
  const { faults, minutes, random, recorder, say, signal } = schedule
  const endsAt = recorder.now() + minutes * 60_000
  const running = new Map<string, Promise<void>>()
  const failures: Error[] = []
  await untilWorked(recorder, endsAt)
  for (let count = 1; count <= faults && recorder.now() < endsAt && failures.length === 0; count++) {
    signal?.throwIfAborted()
    const { name, part, run } = drawn.next().value
    while (running.has(part) || running.size >= together) await Promise.race(running.values())
    const injected = { at: recorder.now(), untilAt: Number.POSITIVE_INFINITY, name }
    recorder.faults.push(injected)
    say(`${(injected.at / 1_000).toFixed(0).padStart(5)} s  ${count}/${faults}  ${name}  (${recorder.progress})`)
    const ended = run(during => recorder.lose(during))
      .catch((error: Error) => void failures.push(error))
      .finally(() => {
        injected.untilAt = recorder.now()
        running.delete(part)
      })
    running.set(part, ended)
    await delay(random.integer(0, longestPauseMs))
  }
  await Promise.all(running.values())
  if (failures.length > 0) throw new Error('A fault could not be done, or not be undone', { cause: failures[0] })
  await untilWorked(recorder, endsAt)
}

async function untilWorked(recorder: Recorder, endsAt: number): Promise<void> {
  const enough = recorder.calls.length + leastRequests
  while (recorder.calls.length < enough && recorder.now() < endsAt) await delay(50)
}
