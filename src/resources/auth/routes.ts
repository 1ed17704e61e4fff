import { z } from 'zod'
import { TooManyAttempts } from '../../auth/login-throttle.ts'
import { reply, route } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { isPassword } from '../users/password.ts'
import { showDetailed } from '../users/show.ts'
import { User } from '../users/schema.ts'
import { findPerson, findPassword } from '../users/store.ts'
import type { Sql } from '../../storage/sql.ts'

const SignIn = z.object({ username: z.string().max(256), password: z.string().max(256) })

const signIn = route({
  method: 'POST',
  path: '/api/auth',
  summary: 'Check a username and password; the answer is the user, no token',
  auth: 'none',
  body: SignIn,
  replies: { 200: User },
  problems: [NotFound, TooManyAttempts],
  async handle({ body, address, attempts, sql, origin, presence }) {
    const { username, password } = body
    const keys = [`name ${username.trim().toLowerCase()}`, `address ${address}`]
    const user = await attempts.run(keys, () => check(sql, username, password))
    if (user === null) throw NotFound()
    // Whoever knows the password sees what the user itself sees.
    const by = { kind: 'user', user, credential: '' } as const
    const person = await findPerson(sql, String(user), by)
    if (person === null || person.trashed_at !== null) throw NotFound()
    return reply(200, await showDetailed(person, { by, origin, followed: new Set(), presence, sql }))
  },
})

/** The id of the user whose password this is. Takes as long for names that nobody has. */
async function check(sql: Sql, username: string, password: string): Promise<number | null> {
  const found = await findPassword(sql, username.trim())
  return (await isPassword(password, found?.password_hash ?? null)) ? found!.id : null
}

export const routes = [signIn]
