import { z } from 'zod'
import { TooManyAttempts } from '../../auth/login-throttle.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { isPassword } from '../users/password.ts'
import { showDetailed } from '../users/show.ts'
import { User } from '../users/schema.ts'
import { findPerson, findPassword } from '../users/store.ts'

const SignIn = z.object({ username: z.string().max(256), password: z.string().max(256) })

const signIn = route('POST /api/auth', {
  summary: 'Check a username and password; the answer is the user, no token',
  auth: 'none',
  body: SignIn,
  replies: { 200: User },
  problems: [NotFound, TooManyAttempts],
  async handle({ body, origin, addressOf }, { sql, loginThrottle, presence }) {
    const address = addressOf()
    const { username, password } = body
    const found = await findPassword(sql, username.trim())
    // By the account: PostgreSQL finds it by more spellings of its name than JavaScript takes for one.
    const name = found === null ? `name ${username.trim().toLowerCase()}` : `user ${found.id}`
    const user = await loginThrottle.run([name, `address ${address}`], async () =>
      // Takes as long for names of no account: the time must not tell which names there are.
      (await isPassword(password, found?.password_hash ?? null)) ? found!.id : null,
    )
    if (user === null) throw NotFound()
    // A caller that knows the password sees what the user itself sees.
    const by = { kind: 'user', user, credential: '' } as const
    const person = await findPerson(sql, String(user), by)
    if (person === null || person.trashed_at !== null) throw NotFound()
    return reply(200, await showDetailed(person, { by, origin, followed: new Set(), presence, sql }))
  },
})

export const routes = [signIn]
