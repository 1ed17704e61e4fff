import type { Sql } from '../../postgres/sql.ts'

/** Callers' keys are hashes of 32 bytes; those of commands that one node asked of another are shorter. */
const forwardedBytes = 24

/** Where the time begins in them. Zeros before it, so that they have an end of the index to themselves. */
const timeAt = 2

/**
 * The key of a command that one node sends to another: after its time, so that such keys are added to one end of the
 * index and leave at the other. `origin`: 8 bytes that tell the node from all others.
 */
export function toForwardedKey(nowMs: number, origin: Buffer, ticket: number): Buffer {
  const key = Buffer.alloc(forwardedBytes)
  key.writeUIntBE(nowMs, timeAt, 6)
  origin.copy(key, 8)
  key.writeBigUInt64BE(BigInt(ticket), 16)
  return key
}

/** Removes up to `limit` of those that were made before a time. Served by the primary key. */
export async function removeForwardedKeys(sql: Sql, before: Date, limit: number): Promise<number> {
  const bound = Buffer.alloc(forwardedBytes)
  bound.writeUIntBE(before.getTime(), timeAt, 6)
  const { count } = await sql`
    delete from idempotency where key in (
      select key from idempotency
      where key < ${bound} and octet_length(key) = ${forwardedBytes}
      order by key limit ${limit} for update skip locked)`
  return count
}
