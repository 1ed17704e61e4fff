import { ProviderFailed } from '../provider.ts'

/** What a step may hold beside its text: reasoning, calls and the vendor's own searches. A guess, far above real ones. */
const limitCharacters = 4 * 1024 * 1024

/** Counts what is kept of one answer beside its text. An answer without end would take the memory of the node. */
export class Kept {
  readonly #vendor: string
  #left = limitCharacters

  constructor(vendor: string) {
    this.#vendor = vendor
  }

  /** Throws a ProviderFailed beyond the limit. */
  add(characters: number): void {
    this.#left -= characters
    if (this.#left >= 0) return
    throw new ProviderFailed(`${this.#vendor}: more than 4 MiB beside the text`, {
      code: 'provider_error',
      isRetryable: false,
    })
  }
}
