import type { Principal } from '../../auth/principal.ts'

/** What a client asks for in a snapshot. */
export interface SnapshotRequest {
  /** The most items. */
  items: number
  /** True where it wants to see agents at work. */
  hasRuns: boolean
}

/** An app as it was at one rev, as one user sees it. */
export interface Snapshot {
  rev: number
  /** The member `snapshot` of the answer. */
  shown: object
}

/** Takes a snapshot of an app. Rejects with 404 where the user may not see the app. */
export type TakeSnapshot = (app: number, by: Principal, asked: SnapshotRequest) => Promise<Snapshot>
