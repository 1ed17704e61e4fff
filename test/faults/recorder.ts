import type { Call, Delivery, Ending, History, Injected, Loss, Moment, Sighting } from './history.ts'

/** Takes down what happens while it happens. */
export class Recorder {
  readonly faults: Injected[] = []
  readonly losses: Loss[] = []
  readonly calls: Call[] = []
  readonly sightings: History['sightings'] = { native: [], hub: [] }
  readonly observers: string[] = []
  readonly deliveries: Delivery[] = []
  readonly receivers: History['receivers'] = []
  /** What nodes said that ended although nobody had told them to. */
  readonly deaths: { at: Moment; node: number; words: string }[] = []
  readonly #startedAt = performance.now()

  now(): Moment {
    return performance.now() - this.#startedAt
  }

  /** Notes that what is acknowledged while this runs may be lost. */
  async lose(run: () => Promise<void>): Promise<void> {
    const loss = { from: this.now(), untilAt: Number.POSITIVE_INFINITY }
    this.losses.push(loss)
    await run()
    loss.untilAt = this.now()
  }

  /** How much has happened, in a few words. */
  get progress(): string {
    const { native, hub } = this.sightings
    return `${this.calls.length} requests, ${native.length + hub.length} frames, ${this.deliveries.length} deliveries`
  }

  saw(protocol: keyof History['sightings'], sighting: Omit<Sighting, 'at'>): void {
    this.sightings[protocol].push({ at: this.now(), ...sighting })
  }

  /** All of it up to now. */
  toHistory(end: Ending): History {
    const { faults, losses, calls, observers, deliveries, receivers } = this
    const sightings = { native: [...this.sightings.native], hub: [...this.sightings.hub] }
    return { faults, losses, calls, sightings, observers, deliveries, receivers, end }
  }
}
