import type { Log } from '../../../lib/log.ts'
import { Thread } from '../../../lib/process/thread.ts'

export interface CheckTask {
  /** JSON of a JSON Schema (2020-12). */
  schema: string
  args: Record<string, unknown>
}

/** What is wrong with arguments, in words for the model; none: they are right. `schema`: that is what is wrong. */
export interface Checked {
  isSchemaValid: boolean
  faults: string[]
}

/** Processor time for one check: compiling a schema of 32 KiB takes some 20 ms, its patterns may take for ever. */
const taskMs = 100

/** Checks that may wait on this node: 16 runs with 16 calls each. */
const waitingLimit = 256

const file = new URL('./checking-thread.ts', import.meta.url)

/**
 * Checks arguments against the schema that an owner gave, on a thread of its own: neither a schema that takes long to be
 * compiled nor a pattern that takes long to be matched holds up anything else.
 */
export class ArgumentChecker {
  readonly #thread: Thread<CheckTask, Checked>

  constructor(log: Log) {
    this.#thread = new Thread({ file, taskMs, waitingLimit, memoryMb: 128, log })
  }

  /** What is wrong, in words for the model; null where nothing is. Never rejects. */
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
