import type { Usage } from '../../../agents/providers/provider.ts'
import type { Journal } from '../../../agents/runs/journal.ts'
import type { BegunCall, EndedCall, ModelStep, StepRow } from '../../../agents/runs/steps.ts'
import type { TestStep } from './test-answer.ts'

/** The journal of a test, in memory for the duration of its request. */
export class TestJournal implements Journal {
  readonly usage: Usage = { in: 0, out: 0, cached: 0 }
  readonly #ended = new Map<number, TestStep>()
  readonly #begun = new Map<number, BegunCall>()
  readonly #skipped: ReadonlySet<number>
  readonly #onStep: (step: TestStep) => void

  /** `skipped`: steps of calls that were not made. `onStep`: called with each finished call. */
  constructor(skipped: ReadonlySet<number>, onStep: (step: TestStep) => void) {
    this.#skipped = skipped
    this.#onStep = onStep
  }

  /** The finished calls, in the model's order. */
  get calls(): TestStep[] {
    return [...this.#ended].toSorted(([a], [b]) => a - b).map(([, step]) => step)
  }

  async steps(): Promise<StepRow[]> {
    return []
  }

  async model(): Promise<void> {}

  firstText(): void {}

  wasted(usage: Usage): void {
    this.#add(usage)
  }

  async answered({ usage }: ModelStep): Promise<void> {
    this.#add(usage)
  }

  async called(call: BegunCall): Promise<void> {
    this.#begun.set(call.n, call)
  }

  async ended({ n, body, outcome }: EndedCall): Promise<void> {
    const { kind, name, args } = this.#begun.get(n)!
    const step: TestStep = this.#skipped.has(n)
      ? { kind, name, arguments: args, result: null, outcome: 'skipped' }
      : { kind, name, arguments: args, result: body.result ?? '', outcome }
    this.#ended.set(n, step)
    this.#onStep(step)
  }

  async thread(): Promise<void> {}

  #add({ in: input, out, cached }: Usage): void {
    this.usage.in += input
    this.usage.out += out
    this.usage.cached += cached
  }
}
