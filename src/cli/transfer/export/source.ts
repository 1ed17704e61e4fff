import type { Db } from '../../../postgres/sql.ts'
import type { BlobLines } from './blobs.ts'
import type { UserLines } from './people.ts'

/** What an export is about: one app, or one user; neither means everything. */
export interface Scope {
  app: number | null
  user: number | null
}

/** The database at the moment of an export, what of it is wanted, and what the lines are made of. */
export interface Source {
  db: Db
  scope: Scope
  users: UserLines
  blobs: BlobLines
}
