import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { UserCache } from '../../../../auth/user-cache.ts'
import type { RunChange, RunWatcher } from '../../../../agents/runs/host.ts'
import type { RunRow } from '../../../../agents/runs/run.ts'
import type { Bus } from '../../../../cluster/bus.ts'
import { every, type Clock } from '../../../../lib/clock.ts'
import type { Frame } from '../../../../realtime/protocols/protocol.ts'
import { showRun } from '../at-work.ts'

interface FramesOptions {
  userCache: UserCache
  bus: Bus
  /** Shows a frame to those of this node who want to see it. */
  show: (app: number, frame: Frame) => void
  origin: () => string
  clock: Clock
}

/** How long text is gathered: a frame for each word would be wasteful. */
const gatherMs = 100

/** The most characters of a draft. */
const draftLimit = 64 * 1024

/** How often lasting states are repeated, for late subscribers. */
const repeatMs = 5_000

/** A running run and its draft. */
interface Shown {
  run: RunRow
  change: RunChange
  text: string
  isTimed: boolean
  /** The number of the next delta; 0 restarts the draft. */
  n: number
  length: number
  /** Aborts at its end. */
  over: AbortController
}

/** A frame for other nodes. */
const Told = z.object({
  from: z.string(),
  frame: z.looseObject({ type: z.enum(['agent_run', 'agent_delta']), app_id: z.int() }),
})
type Told = { from: string; frame: Frame }

const channelOf = (app: number) => `agent-frames:${app}`

/**
 * Sends clients that ask for it frames about agents at work: states, names of tools, and the text while it is written.
 * Nothing is stored, and nothing depends on it; a lost frame is superseded by the item.
 */
export class RunFrames implements RunWatcher {
  readonly #options: FramesOptions
  readonly #node = randomUUID()
  readonly #shown = new Map<number, Shown>()
  readonly #subscribed = new Map<number, () => void>()

  constructor(options: FramesOptions) {
    this.#options = options
  }

  /**
   * The first subscriber of this node asks to see agents of an app, or none does any more: frames of other nodes are
   * received meanwhile.
   */
  audience(app: number, isThere: boolean): void {
    const { bus, show } = this.#options
    this.#subscribed.get(app)?.()
    this.#subscribed.delete(app)
    if (!isThere) return
    const hear = ({ from, frame }: Told) => {
      if (from !== this.#node && frame.app_id === app) show(app, frame)
    }
    this.#subscribed.set(app, bus.subscribe(channelOf(app), Told.parse, hear))
  }

  onChange(run: RunRow, change: RunChange): void {
    const shown = this.#shown.get(run.id) ?? this.#begin(run, change)
    this.#flush(shown)
    shown.change = change
    if (change.isRestarted) this.#restart(shown)
    this.#tell(shown)
    if (change.state !== 'running') this.#end(shown)
  }

  onWaiting(run: RunRow): void {
    this.#tell({ run, change: { state: 'queued' } })
  }

  onText(run: RunRow, text: string, isFirst: boolean): void {
    const shown = this.#shown.get(run.id)
    if (shown === undefined) return
    if (isFirst) {
      this.#flush(shown)
      this.#restart(shown)
    }
    shown.text += text
    if (shown.isTimed) return
    shown.isTimed = true
    this.#options.clock.after(gatherMs, () => this.#flush(shown))
  }

  onLeave({ id }: RunRow): void {
    const shown = this.#shown.get(id)
    if (shown !== undefined) this.#end(shown)
  }

  #begin(run: RunRow, change: RunChange): Shown {
    const shown: Shown = { run, change, text: '', isTimed: false, n: 0, length: 0, over: new AbortController() }
    this.#shown.set(run.id, shown)
    every(this.#options.clock, repeatMs, shown.over.signal, () => this.#tell(shown))
    return shown
  }

  #end(shown: Shown): void {
    shown.over.abort()
    this.#shown.delete(shown.run.id)
  }

  #restart(shown: Shown): void {
    shown.text = ''
    shown.n = 0
    shown.length = 0
  }

  #flush(shown: Shown): void {
    const { run, text, length } = shown
    shown.isTimed = false
    shown.text = ''
    if (text === '' || length >= draftLimit) return
    const kept = text.slice(0, draftLimit - length)
    shown.length += kept.length
    this.#send(run.app_id, { type: 'agent_delta', app_id: run.app_id, run_id: run.id, n: shown.n++, text: kept })
  }

  #tell({ run, change }: Pick<Shown, 'run' | 'change'>): void {
    const { userCache } = this.#options
    if (userCache.find(run.agent_id) !== undefined) return this.#send(run.app_id, this.#toFrame(run, change))
    // The run waits on another node, so its agent may not be in memory. A lost frame is repeated.
    userCache.load([run.agent_id]).then(
      () => this.#send(run.app_id, this.#toFrame(run, change)),
      () => {},
    )
  }

  #toFrame(run: RunRow, change: RunChange): Frame {
    const { userCache, origin } = this.#options
    return { type: 'agent_run', app_id: run.app_id, run: showRun(run, change, { userCache, origin: origin() }) }
  }

  #send(app: number, frame: Frame): void {
    const { bus, show } = this.#options
    // Immediately, also while the bus is down, and after the event that this node has sent before.
    show(app, frame)
    bus.publish(channelOf(app), { from: this.#node, frame } satisfies Told)
  }
}
