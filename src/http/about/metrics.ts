import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { DurationWindow, RequestDurations } from './durations.ts'

/** Reads a value when the metrics are requested; an object gives one value per key. */
type Reading = () => number | Record<string, number>

/**
 * The resolution of the event loop's lag, which is included in the reported value. The usual 10 ms wake an idle node a
 * hundred times a second, which took 1 % of a processor.
 */
const lagPeriodMs = 100

/** Upper bounds in seconds: a commit takes a few milliseconds, and is given up after fifteen seconds. */
const waitSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/**
 * The metrics of one node, in Prometheus's text format. Values that can be read at any time are registered with `gauge`
 * or `counter` and cost nothing between requests; events have a method each.
 */
export class Metrics {
  readonly requests = new RequestDurations()
  readonly contentType: string
  /** The number of group commits, and of the commands in them. */
  commits = 0
  commands = 0
  /** Durations of finished group commits. */
  readonly commitTimes: DurationWindow
  /** Times that queries waited for a connection. */
  readonly poolWaits: DurationWindow
  readonly #registry = new Registry()
  #isWatched = false
  readonly #commits: Histogram

  constructor() {
    this.contentType = this.#registry.contentType
    const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    this.#commits = this.histogram('parley_commit_commands', 'Commands in one commit.', sizes)
    this.commitTimes = this.#durations(
      'parley_commit_duration_seconds',
      'Time from the start of a commit to its end, what was tried again included.',
    )
    this.poolWaits = this.#durations(
      'parley_database_wait_seconds',
      'Time that a query waited for a connection, of those that had to wait.',
    )
  }

  /** Reports the version of this node, for graphs that compare versions. */
  version(version: string): void {
    new Gauge({
      name: 'parley_info',
      help: 'Always 1; its label is the version of this node.',
      labelNames: ['version'],
      registers: [this.#registry],
    }).set({ version }, 1)
  }

  /** Counts a group commit, which has started, and its commands. */
  readonly observeCommit = (commands: number): void => {
    this.#commits.observe(commands)
    this.commits++
    this.commands += commands
  }

  /** A histogram that is sampled too. */
  #durations(name: string, help: string): DurationWindow {
    return new DurationWindow(waitSeconds, this.histogram(name, help, waitSeconds))
  }

  /** A value that rises and falls: waiting commands, open sessions. `label` names the keys of an object. */
  gauge(name: string, help: string, read: Reading, label = 'kind'): void {
    const collect = () => {
      for (const [labels, value] of toSamples(read(), label)) gauge.set(labels, value)
    }
    const gauge: Gauge = new Gauge({ name, help, labelNames: [label], registers: [this.#registry], collect })
  }

  /**
   * A value that only rises, such as deliveries by outcome; its name ends in `_total`. `read` returns the totals since
   * the start.
   */
  counter(name: string, help: string, read: Reading, label = 'kind'): void {
    const collect = () => {
      counter.reset()
      for (const [labels, value] of toSamples(read(), label)) counter.inc(labels, value)
    }
    const counter: Counter = new Counter({ name, help, labelNames: [label], registers: [this.#registry], collect })
  }

  /** A counter with several labels, incremented by the caller. */
  counted(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  /** A histogram with these bucket bounds. */
  histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.#registry] })
  }

  /** All metrics in the text format. The process and the event loop are watched from the first call on. */
  async text(): Promise<string> {
    if (!this.#isWatched) {
      this.#isWatched = true
      collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: lagPeriodMs })
    }
    return (await this.#registry.metrics()) + this.requests.text()
  }
}

function toSamples(reading: number | Record<string, number>, label: string): [Record<string, string>, number][] {
  if (typeof reading === 'number') return [[{}, reading]]
  return Object.entries(reading).map(([key, value]) => [{ [label]: key }, value])
}
