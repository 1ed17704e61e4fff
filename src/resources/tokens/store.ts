import type { Tx } from '../../storage/sql.ts'

export interface TokenRow {
  hash: Buffer
  user: number
  now: Date
  expiresAt: Date
}

/** False where there is no such user, or it is trashed. The lock keeps it from being deleted meanwhile. */
export async function insertToken(tx: Tx, { hash, user, now, expiresAt }: TokenRow): Promise<boolean> {
  const { count } = await tx`
    insert into tokens (hash, user_id, created_at, expires_at)
    select ${hash}, u.id, ${now}, ${expiresAt} from users u
    where u.id = ${user} and u.trashed_at is null
    for key share`
  return count > 0
}

/** Served by tokens_user. */
export async function removeTokens(tx: Tx, user: number): Promise<void> {
  await tx`delete from tokens where user_id = ${user}`
}
