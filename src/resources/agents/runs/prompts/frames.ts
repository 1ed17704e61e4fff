import { randomUUID } from 'node:crypto'
import type { UserCache } from '../../../../auth/user-cache.ts'
import type { RunChange, RunWatcher } from '../../../../agents/runs/host.ts'
import type { RunRow } from '../../../../agents/runs/run.ts'
import type { Bus } from '../../../../cluster/bus.ts'
import type { Clock } from '../../../../lib/clock.ts'
import type { Frame } from '../../../../realtime/protocols/protocol.ts'
import { actorOf } from '../../../users/represent.ts'

interface FramesOptions {
  userCache: UserCache
  bus: Bus
  /** Shows a frame to those of this node who want to see it. */
  show: (app: number, frame: Frame) => void
  origin: () => string
  clock: Clock
}

/** Text is gathered for as long: a frame for each word would cost more than it shows. */
const gatherMs = 100

/** Of one answer of a model. */
const draftLimit = 64 * 1024

/** What lasts is said again, for those who come late. */
const repeatMs = 5_000

/** A run under way, as those see it who want to. */
interface Shown {
  run: RunRow
  change: RunChange
  text: string
  isTimed: boolean
  /** The next delta's number; 0 begins the draft anew. */
  n: number
  length: number
  cancel: () => void
}

/** A frame on its way to other nodes. */
interface Told {
  from: string
  frame: Frame
}

const channelOf = (app: number) => `agent-frames:${app}`

/**
 * Shows clients that ask for it what agents do before it is part of an app's history: states, the names of tools, and the
 * text as it is written. Nothing depends on it and nothing of it is kept; what gets lost is followed by the real item.
 */
export class RunFrames implements RunWatcher {
  readonly #options: FramesOptions
  readonly #node = randomUUID()
  readonly #shown = new Map<number, Shown>()
  readonly #subscribed = new Map<number, () => void>()

  constructor(options: FramesOptions) {
    this.#options = options
  }

  /** The first client here wants to see agents of an app, or none does any more: other nodes' frames come while one does. */
  audience(app: number, isThere: boolean): void {
    const { bus, show } = this.#options
    this.#subscribed.get(app)?.()
    this.#subscribed.delete(app)
    if (!isThere) return
    const hear = (message: unknown) => {
      const { from, frame } = message as Told
      if (from !== this.#node) show(app, frame)
    }
    this.#subscribed.set(app, bus.subscribe(channelOf(app), hear))
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
    const shown: Shown = { run, change, text: '', isTimed: false, n: 0, length: 0, cancel: () => {} }
    this.#shown.set(run.id, shown)
    this.#repeat(shown)
    return shown
  }

  #repeat(shown: Shown): void {
    shown.cancel = this.#options.clock.after(repeatMs, () => {
      this.#tell(shown)
      this.#repeat(shown)
    })
  }

  #end(shown: Shown): void {
    shown.cancel()
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
    // A run that waits for other nodes: this one has not had to do with its agent. What gets lost is said again.
    userCache.load([run.agent_id]).then(
      () => this.#send(run.app_id, this.#toFrame(run, change)),
      () => {},
    )
  }

  #toFrame(run: RunRow, change: RunChange): Frame {
    const { userCache, origin } = this.#options
    const { id, app_id, agent_id, item_type, item_id, parent_type, parent_id } = run
    const { state, tool, isRestarted, reply, error } = change
    return {
      type: 'agent_run',
      app_id,
      run: {
        id,
        state,
        agent: actorOf(userCache.show(agent_id), origin()),
        item: { type: item_type, id: item_id },
        parent: parent_id === null ? null : { type: parent_type, id: parent_id },
        tool: tool ?? null,
        restarted: isRestarted ? true : null,
        reply: reply ?? null,
        error: error ?? null,
      },
    }
  }

  #send(app: number, frame: Frame): void {
    const { bus, show } = this.#options
    // At once, also while the bus is away, and behind the event that this node has told of before.
    show(app, frame)
    bus.publish(channelOf(app), { from: this.#node, frame } satisfies Told)
  }
}
