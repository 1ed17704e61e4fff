import type { Log } from '../../../lib/log.ts'
import { Thread } from '../../../lib/process/thread.ts'

export interface CheckTask {
  /** JSON of a JSON Schema (2020-12). */
  schema: string
  args: Record<string, unknown>
}

/** The faults of arguments in words for the model; empty: valid. `schema`: the schema itself is faulty. */
export interface Checked {
  isSchemaValid: boolean
  faults: string[]
}

/**
 * The processor time of one check. A schema of 32 KiB takes up to 100 ms to compile and four times as much where the
 * machine is busy; its patterns may take for ever.
 */
const taskMs = 2_000

/** Checks that may wait on this node: 16 runs with 16 calls each. */
const waitingLimit = 256

const file = new URL('./checking-thread.ts', import.meta.url)

/**
 * Validates arguments by the owner's JSON Schema on a thread of its own, so that neither a schema that compiles slowly
 * nor a pattern that matches slowly holds up anything else.
 */
export class ArgumentChecker {
  readonly #thread: Thread<CheckTask, Checked>

  constructor(log: Log) {
    this.#thread = new Thread({ file, taskMs, waitingLimit, memoryMb: 128, log })
  }

  /** The faults in words for the model; null where the arguments are valid. Never rejects. */
  async faultsOf(schema: object, args: Record<string, unknown>): Promise<string | null> {
    const outcome = await this.#thread.run({ schema: JSON.stringify(schema), args })
    if (outcome.state === 'turned away') return 'The arguments could not be checked now. Try again later.'
    if (outcome.state === 'failed') return 'Checking the arguments takes too long.'
    const { isSchemaValid, faults } = outcome.result
    if (!isSchemaValid) return `The parameters of this function are no valid JSON Schema: ${faults.join('; ')}`
    return faults.length === 0 ? null : `Invalid arguments, nothing was sent:\n${faults.join('\n')}`
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
