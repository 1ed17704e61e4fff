import type { Sql } from '../../postgres/sql.ts'
import { findUserId } from '../users/store.ts'

/** The id of nobody. */
const nobody = -2

/** The restriction of a list to items by one user; nothing is by a user whom there is not. */
export async function toAuthor(
  { created_by }: { created_by?: string | undefined },
  sql: Sql,
): Promise<{ createdBy?: number }> {
  return created_by === undefined ? {} : { createdBy: (await findUserId(sql, created_by)) ?? nobody }
}
