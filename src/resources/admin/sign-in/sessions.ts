import { LRUCache } from 'lru-cache'
import { randomBytes } from 'node:crypto'
import { globalCommand, type GlobalWork } from '../../../engine/global/command.ts'
import type { GlobalCommands } from '../../../engine/global/global-commands.ts'
import type { SharedLog } from '../../../log/shared-log.ts'
import { unauthenticated, systemUser, type Principal } from '../../../auth/principal.ts'
import { audit, auditAlone } from '../../../audit/audit.ts'
import { TokenBuckets } from '../../../lib/token-buckets.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { hashOf } from '../../../auth/credentials.ts'
import * as store from './store.ts'
import type { AdminSessionRow, NewAdminSession, OpenAt } from './store.ts'

/** The lifetime of a session, and of an unused one. The page polls while it is visible. */
const longestMs = 8 * 3_600_000
const idleMs = 30 * 60_000

/** How often a node records the use of a session: far more often than `idleMs`, but rarely. */
const notePeriodMs = 60_000

/** The most cached sessions; the least recently used are evicted first. Far more than a server has administrators. */
const capacity = 1_000

/** The most recorded refusals, in all: attempts from many addresses must not fill the log. A guess. */
const refusalsPace = { perSecond: 1, burst: 60 }

interface Known {
  principal: Principal
  expiresAt: number
  usedAt: number
  /** When its next use is to be recorded. */
  noteAt: number
}

/** A sign-in and its origin. */
export interface SignIn {
  /** The principal of the API key. */
  by: Principal
  ip: string
  /** The User-Agent header. */
  agent: string
  /** The cookie that the browser has had so far, whose session ends; null without one. */
  replaces: string | null
}

interface AdminSessionsParts {
  sql: Sql
  globalCommands: GlobalCommands
  sharedLog: SharedLog
  now: () => Date
}

/**
 * The sessions of the administration page: a cookie of random bytes stands for an API key, for hours at most, and never
 * longer than the key is valid. Stored in the database for all nodes, and cached here until they end, on any node.
 */
export class AdminSessions {
  readonly #sql: Sql
  readonly #globalCommands: GlobalCommands
  readonly #now: () => Date
  readonly #known = new LRUCache<string, Known>({ max: capacity })
  readonly #refusals: TokenBuckets<string>
  /** Counts ended sessions: a look-up that overlaps with one is repeated. */
  #endings = 0

  constructor({ sql, globalCommands, sharedLog, now }: AdminSessionsParts) {
    this.#sql = sql
    this.#globalCommands = globalCommands
    this.#now = now
    this.#refusals = new TokenBuckets({ ...refusalsPace, now: () => now().getTime() })
    sharedLog.listen(({ type }) => {
      if (type !== 'keys_revoked' && type !== 'admin_session_ended' && type !== 'everything') return
      this.#endings++
      this.#known.clear()
    })
  }

  /**
   * Begins a session, and ends the one that the browser has had, whose cookie is replaced: no sign-out could end it any more. Returns the value of
   * the new cookie, which is not stored; null where the key was revoked meanwhile.
   */
  async begin({ by, ip, agent, replaces }: SignIn): Promise<string | null> {
    const value = randomBytes(32).toString('base64url')
    const replaced = replaces === null ? null : hashOf(replaces)
    const input = { hash: hashOf(value), key: by.credential, ip, agent, replaced }
    const isBegun = await this.#globalCommands.run(beginSession, { ...by, ip }, input)
    return isBegun ? value : null
  }

  /** Records a refused sign-in; of very many, only some. */
  async refused(ip: string, agent: string): Promise<void> {
    if (this.#refusals.take('') > 0) return
    const entry = { action: 'sign_in_failed', after: { agent } } as const
    await auditAlone(this.#sql, { ...unauthenticated, ip }, this.#now(), entry)
  }

  /** The principal of a cookie, synchronously where it is known; a promise with null for an ended session. */
  find(value: string): Principal | Promise<Principal | null> {
    const hash = hashOf(value)
    const known = this.#known.get(hash)
    const now = this.#now().getTime()
    // A session that seems idle may have been used on another node.
    if (known === undefined || known.expiresAt <= now || known.usedAt + idleMs <= now) return this.#read(hash)
    return this.#admit(known, now)
  }

  /** A session that has not ended; null without one. */
  get(id: number): Promise<AdminSessionRow | null> {
    return store.findSessionById(this.#sql, id, openAt(this.#now()))
  }

  /** The sessions that have not ended, and their number. */
  async list(page: { skip: number; take: number; countOnly: boolean }) {
    const open = openAt(this.#now())
    const count = await store.countSessions(this.#sql, open)
    return { count, sessions: page.countOnly ? [] : await store.listSessions(this.#sql, open, page) }
  }

  /** Ends a session: on this node before it resolves, on others within a moment. False where there is none. */
  end(id: number, by: Principal): Promise<boolean> {
    return this.#globalCommands.run(endSession, by, id)
  }

  async #read(hash: string): Promise<Principal | null> {
    let found: AdminSessionRow | null
    let before: number
    do {
      before = this.#endings
      found = await store.findSession(this.#sql, hash, openAt(this.#now()))
    } while (before !== this.#endings)
    this.#known.delete(hash)
    if (found === null) return null
    const { id, key_hash, used_at, expires_at } = found
    const principal: Principal = { kind: 'key', user: systemUser, credential: key_hash, session: id }
    const known = { principal, expiresAt: expires_at.getTime(), usedAt: used_at.getTime(), noteAt: 0 }
    this.#known.set(hash, known)
    return this.#admit(known, this.#now().getTime())
  }

  #admit(known: Known, now: number): Principal {
    known.usedAt = now
    if (now >= known.noteAt) {
      known.noteAt = now + notePeriodMs
      // Runs in the background; after a failure, the use a minute later is recorded instead.
      store.recordSessionUse(this.#sql, known.principal.session!, new Date(now)).catch(() => {})
    }
    return known.principal
  }
}

/** Removes ended sessions. */
export async function forgetSessions(sql: Sql, now: Date): Promise<void> {
  await store.removeEnded(sql, openAt(now), capacity)
}

interface SessionInput extends Omit<NewAdminSession, 'now' | 'expiresAt'> {
  /** The hash of the cookie whose session ends; null without one. */
  replaced: string | null
}

const beginSession = globalCommand(
  'beginSession',
  async (work: GlobalWork, { replaced, ...input }: SessionInput): Promise<boolean> => {
    const expiresAt = new Date(work.now.getTime() + longestMs)
    const id = await store.insertSession(work.sql, { ...input, now: work.now, expiresAt })
    if (id === null) return false
    const old = replaced === null ? null : await store.findSession(work.sql, replaced, openAt(work.now))
    if (old !== null) await end(work, old.id)
    audit(work, { action: 'signed_in', target: { type: 'sign_in', id }, after: { agent: input.agent } })
    return true
  },
)

const endSession = globalCommand('endSession', end)

async function end(work: GlobalWork, id: number): Promise<boolean> {
  if (!(await store.removeSession(work.sql, id))) return false
  audit(work, { action: 'signed_out', target: { type: 'sign_in', id } })
  work.changed('admin_session_ended', 'admin_session', id)
  return true
}

function openAt(now: Date): OpenAt {
  return { now, usedSince: new Date(now.getTime() - idleMs) }
}
