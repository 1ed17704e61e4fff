import type { Measurement, Target } from './figures.ts'
import type { Generator } from './load/generator.ts'
import type { Parley } from './parley.ts'
import type { Comparison } from './peers/comparison.ts'
import type { Server } from './server.ts'
import type { Need, Room } from './world.ts'

/** One question about speed, answered by measurements. */
export interface Scenario {
  name: string
  question: string
  /** The figure that answers it. */
  figure: string
  /** Rooms that must be there, by name. Scenarios that name the same rooms share them. */
  needs: Record<string, Need>
  /** The server must have done nothing else since its start. */
  isFresh?: boolean
  /** It takes so long that it runs only when it is asked for. */
  isByHand?: boolean
  /** How long each measurement takes, and how often it is repeated, unless it is said; 5 s and 3 times. */
  seconds?: number
  rounds?: number
  /** It can send at another rate than its own. */
  takesRate?: boolean
  /** It can measure the hand-made server beside Parley. */
  comparesPeers?: boolean
  run(stage: Stage): Promise<Outcome>
  /** The same of a server that runs elsewhere, as far as it can be told there. */
  runElsewhere?(stage: AnyStage): Promise<Outcome>
}

/** What a scenario works with, wherever the server runs. */
export interface AnyStage {
  server: Server
  load: Generator
  /** The rooms that it asked for. */
  rooms: Record<string, Room[]>
  /** How long each measurement takes, and how often each is repeated; figures are medians. */
  seconds: number
  rounds: number
  /** Operations a second that were asked for; null: what the scenario has of itself. */
  rate: number | null
  /** Everything is small and short, to see that it works. */
  isTrial: boolean
  /** Only set-ups with this in their name are asked for. */
  only: string
  say(line: string): void
}

/** The same where the server was started by the bench. */
export interface Stage extends AnyStage {
  parley: Parley
  /** The hand-made server is measured as well. */
  comparesPeers: boolean
}

export interface Outcome {
  measurements: Measurement[]
  targets: Target[]
  comparisons?: Comparison[]
  notes?: string[]
}
