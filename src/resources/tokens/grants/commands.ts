import { auditAlone } from '../../../audit/audit.ts'
import { hashOf } from '../../../auth/credentials.ts'
import type { Principal } from '../../../auth/principal.ts'
import { globalCommand, type GlobalWork } from '../../../engine/global/command.ts'
import { NotFound } from '../../../lib/errors.ts'
import { newToken } from '../commands.ts'
import { insertToken } from '../store.ts'
import { newHalf, readSecret, toSecret, type SecretKind } from './secrets.ts'
import { insertGrant, lockGrant, lockGrantOfToken, removeGrant, updateSecret, type GrantRow } from './store.ts'

/** How long a code may wait for its exchange, and a grant for its next use. The latter is a guess. */
const codeMs = 60_000
const grantMs = 30 * 86_400_000

export const tokenSeconds = 3600

/** What a user allows: which client, and where it hears of it. */
interface Allowed extends Pick<GrantRow, 'client' | 'client_name' | 'redirect_uri'> {
  challenge: string
}

/** A user allows a client to act in its name. Returns the code, or null where the user may not: it is trashed, or an agent. */
export const allowClient = globalCommand('allowClient', async (work: GlobalWork, allowed: Allowed) => {
  const { sql, by, now } = work
  const [family, half] = [newHalf(), newHalf()]
  const hashes = { family: hashOf(family), secret: hashOf(half) }
  const expires_at = new Date(now.getTime() + codeMs)
  if (!(await insertGrant(sql, { ...allowed, ...hashes, user_id: by.user, expires_at }, now))) return null
  const { client_name: client, redirect_uri } = allowed
  await auditAlone(sql, by, now, {
    action: 'client_allowed',
    target: { type: 'user', id: by.user },
    after: { client, redirect_uri },
  })
  return toSecret('code', family, half)
})

interface Redeemed {
  kind: SecretKind
  secret: string
  /** The hash of the id of the client that asks. */
  client: string
  /** With a code: what its verifier hashes to, and where the client says that it came. */
  challenge?: string
  redirect_uri?: string
}

export interface GrantTokens {
  access_token: string
  refresh_token: string
}

/**
 * Exchanges a code or refresh token for an access token and the next refresh token; null where it is not valid. A secret that
 * was exchanged before is held by two: the grant ends, with all its tokens.
 */
export const redeem = globalCommand(
  'redeem',
  async (work: GlobalWork, asked: Redeemed): Promise<GrantTokens | null> => {
    const { sql, now } = work
    const given = readSecret(asked.kind, asked.secret)
    const grant = given && (await lockGrant(sql, given.family))
    if (!given || !grant) return null
    if (grant.secret !== given.secret) {
      await end(work, grant.id, userOf(grant), 'A code or refresh token was used twice')
      return null
    }
    if (grant.expires_at <= now || grant.client !== asked.client || !fits(grant, asked)) return null
    const token = newToken()
    const expiresAt = new Date(now.getTime() + tokenSeconds * 1000)
    const row = { hash: hashOf(token), user: grant.user_id, grant: grant.id, now, expiresAt }
    if (!(await insertToken(sql, row))) return null
    const half = newHalf()
    await updateSecret(sql, { id: grant.id, secret: hashOf(half), expires_at: new Date(now.getTime() + grantMs) }, now)
    return { access_token: token, refresh_token: toSecret('refresh', given.text, half) }
  },
)

function fits(grant: GrantRow, { kind, challenge, redirect_uri }: Redeemed): boolean {
  if (kind === 'refresh') return grant.challenge === null
  return grant.challenge === challenge && (redirect_uri ?? grant.redirect_uri) === grant.redirect_uri
}

/** Ends a grant by its id, with all its tokens: on this node before the answer, on others within a moment. */
export const endGrant = globalCommand('endGrant', async (work: GlobalWork, id: number) => {
  if (!(await end(work, id, work.by, 'An owner has ended it'))) throw NotFound()
})

/** A client ends its own grant, by any of its access and refresh tokens. Other texts and other clients' do nothing. */
export const endOwnGrant = globalCommand(
  'endOwnGrant',
  async (work: GlobalWork, { token, client }: { token: string; client: string }) => {
    const given = readSecret('refresh', token)
    const grant = given ? await lockGrant(work.sql, given.family) : await lockGrantOfToken(work.sql, hashOf(token))
    if (grant && grant.client === client) await end(work, grant.id, userOf(grant), 'The client has ended it')
  },
)

async function end(work: GlobalWork, id: number, by: Principal, reason: string): Promise<boolean> {
  const grant = await removeGrant(work.sql, id)
  if (grant === null) return false
  const target = { type: 'user', id: grant.user_id }
  await auditAlone(work.sql, by, work.now, {
    action: 'client_ended',
    target,
    before: { client: grant.client_name },
    after: { reason },
  })
  work.changed('grant_ended', 'grant', id)
  return true
}

function userOf({ user_id }: GrantRow): Principal {
  return { kind: 'user', user: user_id, credential: '' }
}
