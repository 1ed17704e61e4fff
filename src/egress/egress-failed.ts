import type { Answer } from './exchange.ts'

/** `address`: the policy refuses it. `stopped`: by the caller's signal. `idle`: nothing arrived for too long. */
export type EgressFault =
  'url' | 'address' | 'name' | 'connection' | 'deadline' | 'idle' | 'size' | 'stopped' | 'redirects'

/** There was no complete answer. The message may name addresses: it is for those who run the server, not for users. */
export class EgressFailed extends Error {
  readonly fault: EgressFault
  /** What had arrived before the exchange broke off. */
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
