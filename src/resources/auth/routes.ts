import { z } from 'zod'
import { Unauthorized } from '../../auth/authentication.ts'
import { TooManyAttempts } from '../../auth/login-throttle.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { issueToken } from '../tokens/commands.ts'
import { defaultSeconds, NewToken, Token } from '../tokens/schema.ts'
import { findByPassword } from './password.ts'
import { showDetailed } from '../users/show.ts'
import { User } from '../users/schema.ts'
import { findPerson } from '../users/store.ts'

const SignIn = z.object({ username: z.string().max(256), password: z.string().max(256) })

const signIn = route('POST /api/auth', {
  summary: 'Check a username and password; the answer is the user, no token',
  auth: 'none',
  body: SignIn,
  replies: { 200: User },
  problems: [NotFound, TooManyAttempts],
  async handle({ body, origin, addressOf }, { sql, loginThrottle, presence }) {
    const user = await findByPassword({ ...body, address: addressOf() }, { sql, loginThrottle })
    if (user === null) throw NotFound()
    // A caller that knows the password sees what the user itself sees.
    const by = { kind: 'user', user, credential: '' } as const
    const person = await findPerson(sql, String(user), by)
    if (person === null || person.trashed_at !== null) throw NotFound()
    return reply(200, await showDetailed(person, { by, origin, followed: new Set(), presence, sql }))
  },
})

const exchange = route('POST /api/auth/exchange', {
  summary: 'Exchange a token of the host for an access token, which ends no later',
  description:
    'For pages whose users are signed in by an identity provider, and that would rather hold a token that can be ' +
    'revoked here.',
  auth: 'token',
  body: NewToken,
  replies: { 200: Token },
  problems: [NotFound],
  async handle({ body, by }, { credentials, globalCommands, now }) {
    const left = Math.floor((credentials.expiryOf(by) - now().getTime()) / 1000)
    // It has ended, or was revoked, while the body arrived.
    if (left < 1) throw Unauthorized()
    const expiresInSeconds = Math.min(left, body.expires_in ?? defaultSeconds)
    const token = await globalCommands.run(issueToken, by, { user: String(by.user), expiresInSeconds })
    return reply(200, { access_token: token, expires_in: expiresInSeconds })
  },
})

export const routes = [signIn, exchange]
