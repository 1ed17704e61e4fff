import { isDeepStrictEqual } from 'node:util'
import type { JWTPayload } from 'jose'
import type { HostAccount } from '../../auth/host-tokens/host-tokens.ts'
import { refused } from '../../auth/host-tokens/refusals.ts'
import { server } from '../../auth/principal.ts'
import { Problem } from '../../lib/errors.ts'
import { foldName } from '../../lib/name.ts'
import { preparePicture } from '../blobs/pictures/picture.ts'
import { createDirectory } from '../directories/commands.ts'
import { findDirectoryId } from '../directories/store.ts'
import type { Served } from '../route.ts'
import { upsertUser } from '../users/commands.ts'
import { findHostedUser, type HostedUser } from '../users/store.ts'
import { readClaims, type Claimed, type ClaimNames } from './claims.ts'

export interface AccountSettings {
  claims: ClaimNames
  /** True where users and directories that a token names are made. */
  creates: boolean
}

export type AccountParts = Served<'sql' | 'globalCommands' | 'bytes' | 'renditions' | 'uploadRoom' | 'outside' | 'now'>

/** What a token says, and what is known of its user; null where there is none. */
interface AccountChange {
  claimed: Claimed
  issuedAt: Date
  user: HostedUser | null
}

/** The first request of a user with another picture waits for it so long. A guess. */
const pictureMs = 3_000

/**
 * The users that tokens of the host name. They are made and changed as the tokens say: by one write where something
 * differs, by none where nothing does. Requests that find the same difference at once share the write; between nodes, the
 * lock of the user and its unique uid see to that.
 */
export class HostAccounts {
  readonly #settings: AccountSettings
  readonly #parts: AccountParts
  /** Writes under way, by what they write. */
  readonly #writes = new Map<string, Promise<void>>()

  constructor(settings: AccountSettings, parts: AccountParts) {
    this.#settings = settings
    this.#parts = parts
  }

  /** The user for the claims of a token. 401 where there is none, or none that may sign in. */
  async find(payload: JWTPayload, issuedAt: Date): Promise<HostAccount> {
    const { sql } = this.#parts
    const { claims, creates } = this.#settings
    const claimed = readClaims(payload, claims)
    let user = await findHostedUser(sql, claimed.uid)
    if (user !== null) requireActive(user)
    else if (!creates) throw refused('user-unknown')
    const isOutdated = user?.claimed_at != null && issuedAt < user.claimed_at
    if (user === null || (!isOutdated && differs(user, claimed))) {
      await this.#writeTogether({ claimed, issuedAt, user })
      user = await findHostedUser(sql, claimed.uid)
      if (user === null) throw refused('user-unknown')
      requireActive(user)
    }
    return { user: user.id, tokensRevokedAt: user.tokens_revoked_at }
  }

  async #writeTogether(change: AccountChange): Promise<void> {
    const { claimed } = change
    const key = JSON.stringify({ ...claimed, uid: foldName(claimed.uid) })
    const write = this.#writes.get(key) ?? this.#write(change).finally(() => this.#writes.delete(key))
    this.#writes.set(key, write)
    await write
  }

  async #write({ claimed, issuedAt, user }: AccountChange): Promise<void> {
    const { uid, name, email, picture, directories } = claimed
    const pictured = picture === undefined || picture === user?.picture_url ? {} : await this.#fetch(picture)
    const given = {
      name,
      email,
      claimed_at: issuedAt,
      ...pictured,
      directories: directories && (await this.#knownAmong(directories)),
    }
    try {
      await this.#parts.globalCommands.run(upsertUser, server, { uid, given })
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 422) throw error
      // A uid like u7, which in mentions is another user, or one that an agent has got meanwhile.
      throw refused('token-uid', `The uid of the token cannot be had: ${error.message}`)
    }
  }

  /** A picture that cannot be had must keep no one from signing in: the one before stays, until the next token. */
  async #fetch(url: string): Promise<{ picture?: number; picture_url?: string }> {
    const caller = { ...this.#parts, by: server, outboundQuota: null, deadlineMs: pictureMs }
    try {
      return { picture: (await preparePicture(url, 'picture', caller))!, picture_url: url }
    } catch (error) {
      if (error instanceof Problem) return {}
      throw error
    }
  }

  /** The directories that there are by then: unknown ones are made, or left out where nothing is made. */
  async #knownAmong(names: string[]): Promise<string[]> {
    const { sql, globalCommands } = this.#parts
    const known = await Promise.all(
      names.map(async name => {
        if ((await findDirectoryId(sql, name)) !== null) return [name]
        if (!this.#settings.creates) return []
        await globalCommands.run(createDirectory, server, name).catch((error: unknown) => {
          // Another request has made it.
          if (!(error instanceof Problem) || error.status !== 409) throw error
        })
        return [name]
      }),
    )
    return known.flat()
  }
}

function requireActive({ is_agent, trashed_at }: HostedUser): void {
  if (is_agent) throw refused('user-agent')
  if (trashed_at !== null) throw refused('user-trashed')
}

function differs(user: HostedUser, { name, email, picture, directories }: Claimed): boolean {
  const folds = (names: string[]) => names.map(foldName).toSorted()
  return (
    (name !== undefined && name !== user.name) ||
    (email !== undefined && email !== user.email) ||
    (picture !== undefined && picture !== user.picture_url) ||
    (directories !== undefined && !isDeepStrictEqual(folds(directories), folds(user.directories)))
  )
}
