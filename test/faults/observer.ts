import type { FaultyNode } from './node.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'
import type { Person, World } from './world.ts'

/** Somebody who listens to all apps, on one connection after the other, and notes everything. */
export interface Observer {
  /** The newest rev that it has heard in an app; undefined where there was none. */
  last(app: number): number | undefined
  /** Until the signal; connections that end meanwhile are made again. */
  run(): Promise<void>
}

export interface ObserverOptions {
  name: string
  person: Person
  world: World
  nodes: readonly FaultyNode[]
  recorder: Recorder
  random: Random
  signal: AbortSignal
}
