import type { LoginThrottle } from '../../auth/login-throttle.ts'
import { foldName } from '../../lib/name.ts'
import type { Sql } from '../../postgres/sql.ts'
import { isPassword } from '../users/password.ts'
import { findPassword } from '../users/store.ts'

interface Attempt {
  username: string
  password: string
  /** The client's address. */
  address: string
}

/**
 * The user of a username and password; null where they are of none. It takes as long for names of no account, so that the
 * time does not tell which names there are. 429 after ten failures within a minute under the name or the address.
 */
export async function findByPassword(
  { username, password, address }: Attempt,
  { sql, loginThrottle }: { sql: Sql; loginThrottle: LoginThrottle },
): Promise<number | null> {
  const found = await findPassword(sql, username.trim())
  const name = found === null ? `name ${foldName(username.trim())}` : `user ${found.id}`
  return loginThrottle.run([name, `address ${address}`], async () =>
    (await isPassword(password, found?.password_hash ?? null)) ? found!.id : null,
  )
}
