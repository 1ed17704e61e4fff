import { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import { Unauthorized } from '../../../auth/authentication.ts'
import type { Credentials } from '../../../auth/credentials.ts'
import { TooManyAttempts } from '../../../auth/login-throttle.ts'
import { problem } from '../../../lib/errors.ts'
import { Int, Timestamp } from '../../../api/shape.ts'
import { reply } from '../../../http/route.ts'
import { adminRoute, route } from '../../route.ts'
import { clearCookie, writeCookie } from '../../../http/admin/cookie.ts'
import { OtherOrigin } from '../../../http/admin/door.ts'

export const WrongKey = problem(401, 'wrong-key', 'This is no valid API key.')

const SignInInput = z.object({ api_key: z.string().max(512).describe('An API key') })

export const AdminSession = z
  .object({
    id: Int,
    key: z.object({ id: Int, name: z.string() }).describe('The API key that was signed in with'),
    created_at: Timestamp,
    expires_at: Timestamp.describe('When it ends at the latest; unused, it ends after half an hour'),
  })
  .meta({ id: 'AdminSession' })

const signIn = adminRoute('POST /admin/session', {
  summary:
    'Sign in on the administration page, by an API key; the answer sets a cookie, and a session of the browser ends',
  auth: 'none',
  body: SignInInput,
  replies: { 204: null },
  problems: [WrongKey, OtherOrigin, TooManyAttempts],
  async handle({ body, admin, addressOf }, { credentials, adminSessions, loginThrottle }) {
    const address = addressOf()
    const { isSecure, agent, cookie } = admin
    const value = await loginThrottle.run([`address ${address}`], async () => {
      const by = await findHolder(body.api_key, credentials)
      return by === null ? null : await adminSessions.begin({ by, ip: address, agent, replaces: cookie })
    })
    if (value === null) {
      await adminSessions.refused(address, agent)
      throw WrongKey()
    }
    return reply(204, undefined, { 'Set-Cookie': writeCookie(value, isSecure) })
  },
})

const show = route('GET /admin/session', {
  summary: 'Get the session of the administration page that the cookie stands for',
  auth: 'session',
  replies: { 200: AdminSession },
  async handle({ by }, { adminSessions }) {
    const session = await adminSessions.get(by.session!)
    if (session === null) throw Unauthorized()
    const { id, key_id, key_name, created_at, expires_at } = session
    return reply(200, { id, key: { id: key_id, name: key_name }, created_at, expires_at })
  },
})

const signOut = adminRoute('DELETE /admin/session', {
  summary: 'Sign out on the administration page',
  auth: 'session',
  replies: { 204: null },
  problems: [OtherOrigin],
  async handle({ by, admin }, { adminSessions }) {
    await adminSessions.end(by.session!, by)
    return reply(204, undefined, { 'Set-Cookie': clearCookie(admin.isSecure) })
  },
})

/** The principal of an API key; null for any other text, access tokens included. */
async function findHolder(key: string, credentials: Credentials): Promise<Principal | null> {
  if (!key.trim().startsWith('wys_')) return null
  return credentials.authenticate(key.trim(), () => '')
}

export const signInRoutes = [signIn, show, signOut]
