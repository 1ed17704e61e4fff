import type { BlobLines } from './blobs.ts'
import type { UserLines } from './people.ts'
import type { Selection } from './scope.ts'

/** What the lines are made of. */
export interface Source extends Selection {
  users: UserLines
  blobs: BlobLines
}
