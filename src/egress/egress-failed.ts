import type { Answer } from './exchange.ts'

/**
 * `address`: refused by the IP policy. `stopped`: aborted by the caller's signal. `idle`: nothing arrived for too long.
 */
export type EgressFault =
  'url' | 'address' | 'name' | 'connection' | 'deadline' | 'idle' | 'size' | 'stopped' | 'redirects'

/** A request without a complete answer. The message may contain addresses: it is for operators, not for users. */
export class EgressFailed extends Error {
  readonly fault: EgressFault
  /** What had arrived before the exchange was aborted. */
  readonly partial: Answer | undefined

  constructor(
    fault: EgressFault,
    message: string,
    { cause, partial }: { cause?: unknown; partial?: Answer | undefined } = {},
  ) {
    super(message, { cause })
    this.fault = fault
    this.partial = partial
  }
}
