import { randomBytes } from 'node:crypto'
import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { audit } from '../../audit/audit.ts'
import { hashOf } from '../../auth/credentials.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { SpecialUser } from '../users/schema.ts'
import { findUserIdTogether, updateTokensRevoked } from '../users/store.ts'
import { insertToken, removeTokens } from './store.ts'

/** The prefix tells clients that this is no API key. */
export const newToken = () => `wyu_${randomBytes(32).toString('base64url')}`

/**
 * Issues a token to a user or agent; earlier ones stay valid. Only its hash is stored, so repeating with an
 * Idempotency-Key issues another. Refuses with 404 for trashed users, with 403 for the special ones.
 */
export const issueToken = globalCommand(
  'issueToken',
  async (work: GlobalWork, { user, expiresInSeconds }: { user: string; expiresInSeconds: number }): Promise<string> => {
    const id = await requireUser(work, user)
    const token = newToken()
    const expiresAt = new Date(work.now.getTime() + expiresInSeconds * 1000)
    if (!(await insertToken(work.sql, { hash: hashOf(token), user: id, now: work.now, expiresAt }))) throw NotFound()
    audit(work, { action: 'token_issued', target: { type: 'user', id, name: user }, after: { expires_at: expiresAt } })
    return token
  },
  { sharesCommit: true },
)

/**
 * Ends all tokens of a user or agent, trashed or not, also those of the host: on this node before the answer, on others
 * within a moment.
 */
export const revokeTokens = globalCommand('revokeTokens', async (work: GlobalWork, user: string) => {
  const id = await requireUser(work, user)
  await removeTokens(work.sql, id)
  await updateTokensRevoked(work.sql, id, work.now)
  audit(work, { action: 'tokens_revoked', target: { type: 'user', id, name: user } })
  work.changed('tokens_revoked', 'user', id)
})

async function requireUser({ sql }: GlobalWork, user: string): Promise<number> {
  const id = requireFound(await findUserIdTogether(sql, user))
  if (id <= 0) throw SpecialUser()
  return id
}
