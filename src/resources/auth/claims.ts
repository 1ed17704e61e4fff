import type { JWTPayload } from 'jose'
import type { z } from 'zod'
import { UidInput } from '../../api/shape.ts'
import { refused } from '../../auth/host-tokens/refusals.ts'
import { UserUpdate } from '../users/schema.ts'

/** The names of the claims that users are made of. */
export interface ClaimNames {
  uid: string
  name: string
  email: string
  picture: string
  /** Null: tokens say nothing of directories. */
  directories: string | null
}

/** What a token says of its user. What it does not say stays as it is. */
export interface Claimed {
  uid: string
  name: string | undefined
  email: string | undefined
  /** An http or https URL. */
  picture: string | undefined
  directories: string[] | undefined
}

/** The most directories that are taken from a token. */
const mostDirectories = 50

/**
 * Reads the claims by the rules of the API. A uid that breaks them is refused, with the rule; of the rest, what breaks them
 * is left out: a name that is too long must keep no one from signing in.
 */
export function readClaims(payload: JWTPayload, names: ClaimNames): Claimed {
  const directories = names.directories === null ? undefined : find(payload, names.directories)
  const picture = fitting(UserUpdate.shape.picture, find(payload, names.picture))
  return {
    uid: requireUid(find(payload, names.uid), names.uid),
    name: fitting(UserUpdate.shape.name, find(payload, names.name)) ?? undefined,
    email: fitting(UserUpdate.shape.email, find(payload, names.email)) ?? undefined,
    picture: picture && /^https?:\/\//i.test(picture) ? picture : undefined,
    directories: directories === undefined ? undefined : readDirectories(directories),
  }
}

function requireUid(value: unknown, claim: string): string {
  if (value === undefined) throw refused('token-uid', `The token names no user: it has no claim ${claim}.`)
  const { data, error } = UidInput.safeParse(value)
  if (error === undefined) return data
  throw refused('token-uid', `The claim ${claim} of the token is no uid: ${error.issues[0]!.message}.`)
}

/** A name for one, an array for several. */
function readDirectories(value: unknown): string[] {
  const given: unknown[] = Array.isArray(value) ? value : [value]
  const names = given.slice(0, mostDirectories).map(name => fitting(UidInput, name))
  return [...new Set(names.filter(name => name !== undefined))]
}

function fitting<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> | undefined {
  return schema.safeParse(value).data
}

/** A claim by its name or, where there is none of that name, by the path to it: `user_metadata.full_name`. */
function find(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name] ?? undefined
  return name.split('.').reduce<unknown>((within, part) => {
    const isObject = typeof within === 'object' && within !== null
    return isObject && Object.hasOwn(within, part) ? (within as Record<string, unknown>)[part] : undefined
  }, payload)
}
