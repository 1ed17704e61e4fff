import { randomUUID } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { productVersion } from '../config/product-version.ts'
import { toTraceSettings } from '../config/part-options.ts'
import { Metrics } from '../http/about/metrics.ts'
import { datesOf, systemClock, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Epoch } from '../log/epoch.ts'
import type { Teardown } from '../lib/process/teardown.ts'
import type { Traces } from '../monitoring/traces.ts'
import { anyOrigin } from '../realtime/protocols/protocol.ts'

interface Given {
  config: Config
  /** Where the database is. */
  url: string
  /** The history of the database that this node has known before, and that is over; null at the start. */
  over: Epoch | null
  log: Log
  /** Each part adds how it ends. */
  teardown: Teardown
}

/** What every part of a node is given. */
export interface Base extends Given {
  /** The id of this node among all on its database. */
  node: string
  clock: Clock
  now: () => Date
  origin: OwnOrigin
  metrics: Metrics
  /** Null where nothing is traced. */
  tracer: Traces | null
}

/** Scheme and host of URLs that leave this server without a request: PUBLIC_URL, otherwise where this node listens. */
export class OwnOrigin {
  readonly #publicUrl: string | null
  #listening = 'http://localhost'

  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl
  }

  /** The node listens under this address from now on. */
  listensAt(url: string): void {
    this.#listening = url
  }

  readonly get = (): string => this.#publicUrl ?? this.#listening

  /** In frames of realtime: without PUBLIC_URL a placeholder for the origin that each client uses. */
  readonly inFrames = (): string => this.#publicUrl ?? anyOrigin
}

export async function openBase(given: Given): Promise<Base> {
  const { config, log, teardown } = given
  const node = randomUUID()
  const clock = systemClock
  const metrics = new Metrics()
  metrics.version(productVersion)
  const tracer = await openTraces(config, node, log)
  if (tracer !== null) teardown.add('traces', () => tracer.close())
  return { ...given, node, clock, now: datesOf(clock), origin: new OwnOrigin(config.publicUrl), metrics, tracer }
}

/** Null where nothing is traced: then what traces is not even loaded. */
async function openTraces(config: Config, node: string, log: Log): Promise<Traces | null> {
  const settings = toTraceSettings(config)
  if (settings === null) return null
  const { Traces } = await import('../monitoring/traces.ts')
  return new Traces({ ...settings, version: productVersion, node, log })
}
