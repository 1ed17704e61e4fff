import { hash, verify } from '@node-rs/argon2'

/**
 * argon2id with 19 MiB and two passes (OWASP's recommendation): about 20 ms on a thread of libuv's pool, so that the
 * event loop goes on. The parameters are part of the hash, so they may be raised later.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The hash of a discarded random text. */
const nobodys = '$argon2id$v=19$m=19456,t=2,p=1$4VciAupGteuIeiZAT0eD2A$fKWtTJOFXdsrNvDrPKtKaHCW+k3CbZrNRYdOkFnFbmE'

export function hashPassword(password: string): Promise<string> {
  return hash(password, cost)
}

/**
 * True where the password matches. False for a user without a password after as much time as for a wrong one, so that
 * timing does not reveal which names exist.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const isRight = await verify(stored ?? nobodys, password)
  return isRight && stored !== null
}
