import type { Db } from '../../../postgres/sql.ts'

/** What an export is about: one app, or one user; neither means everything. */
export interface Scope {
  app: number | null
  user: number | null
}

/** The database at the moment of an export, and what of it is wanted. */
export interface Selection {
  db: Db
  scope: Scope
}
