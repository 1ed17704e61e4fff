import type { Principal } from '../../auth/principal.ts'
import { overloaded, type Problem } from '../../lib/errors.ts'
import { FairQueue } from '../../lib/fair-queue.ts'
import type { Contract } from '../route.ts'
import { TooManyRequests } from './rate-limit.ts'

/** A user by id, an API key by its credential. */
export type Caller = number | string

/** Requests that wait for one kind of thing. */
export interface Lane {
  readonly queue: FairQueue<Caller>
  /** True where a request ends when its client goes away, as it changes nothing. */
  readonly isRead: boolean
  /** True where the database works for the request alone and for long, so that it must be told of the end. */
  readonly isHeavy: boolean
  /** The refusal where too many requests of the caller wait. */
  readonly refusal: () => Problem
}

/** The members of a list's query that make it heavy; see `isHeavy`. */
interface ListQuery {
  q?: string
  tag?: string[]
  around?: string
  skip?: number
}

/** A page from here on is deep: the newest hundred items are in memory. A guess. */
const deepFrom = 100

/** Heavy reads use at most this share of the database's connections, and no more than some: each keeps a processor busy. */
const heavyShare = 0.4
const mostHeavy = 4

/** Reads of one user that run at a time are half as many as there are connections, and not fewer. A guess. */
const leastReads = 4

/** Requests of one user that run at a time: more than the connections that a browser opens. A guess. */
const usersWrites = 16

/** Uploads of one user that are received at a time. A guess: two fill the link of most people. */
const usersUploads = 4

/** Requests of one user, whose handlers make requests of their own, that run at a time. A guess. */
const usersCalling = 4

/** Requests of one API key that run at a time: it acts for many people. A guess. */
const keysRequests = 256

/** Requests of one caller that may wait, and the bytes of their bodies. Guesses. */
const waiting = { requests: 512, heavy: 64, bytes: 16 * 1024 * 1024 }

/**
 * Lets callers take turns: a caller has a share of requests that run at a time, and more of them wait in order, beside
 * which those of others run. There are lanes for reads, writes, uploads, requests that make others, and heavy reads, which
 * also share a part of the database's connections among all callers. Requests without a credential take no turns, unless
 * their route says so.
 */
export class Turns {
  readonly #reads: Lane
  readonly #writes: Lane
  readonly #uploads: Lane
  readonly #calling: Lane
  readonly #heavy: Lane

  /** `connections`: those of this node to the database, for all but group commits. `isResting`: see `ThreadTime`. */
  constructor(connections: number, isResting: (caller: Caller) => boolean = () => false) {
    const slots = Math.max(1, Math.min(mostHeavy, Math.floor(connections * heavyShare)))
    const usersReads = Math.max(leastReads, Math.floor(connections / 2))
    this.#reads = { ...toLane(usersReads, isResting), isRead: true }
    this.#writes = toLane(usersWrites, isResting)
    this.#uploads = toLane(usersUploads, isResting)
    this.#calling = toLane(usersCalling, isResting)
    const queue = new FairQueue<Caller>({
      atOnce: slots,
      // A key acts for many, and may take what is free.
      ofOne: caller => (isUser(caller) ? 1 : slots),
      waitingOfOne: waiting.heavy,
      isResting,
    })
    this.#heavy = { queue, isRead: true, isHeavy: true, refusal: overloaded }
  }

  laneOf(route: Contract, query: unknown): Lane {
    // Not one of those that its own requests wait in.
    if (route.makesCalls === true) return this.#calling
    // What waits for another server needs no connection to the database meanwhile.
    if (route.method !== 'GET' || route.asksOthers === true)
      return route.uploadLimitBytes === undefined ? this.#writes : this.#uploads
    return isHeavy(route, query) ? this.#heavy : this.#reads
  }
}

/**
 * The name of a caller in the turns. Callers without a credential take none, and it is null; where they are to share, as
 * nothing tells them apart, all of them are one.
 */
export function callerOf({ kind, user, credential }: Principal, areShared = false): Caller | null {
  if (kind === 'nobody') return areShared ? user : null
  return kind === 'user' ? user : credential
}

function isUser(caller: Caller): caller is number {
  return typeof caller === 'number'
}

function toLane(ofUser: number, isResting: (caller: Caller) => boolean): Lane {
  const queue = new FairQueue<Caller>({
    ofOne: caller => (isUser(caller) ? ofUser : keysRequests),
    waitingOfOne: waiting.requests,
    bytesOfOne: waiting.bytes,
    isResting,
  })
  return { queue, isRead: false, isHeavy: false, refusal: () => TooManyRequests({ retry_after: 1 }) }
}

/**
 * True for a read whose cost follows from what is stored and not from what it answers: it searches, goes to a place in a
 * list that no index leads to, or is declared as heavy.
 */
function isHeavy({ isHeavy, query: schema }: Contract, query: unknown): boolean {
  if (typeof isHeavy === 'function' ? isHeavy(query) : isHeavy === true) return true
  if (schema === undefined) return false
  const { q, tag, around, skip = 0 } = query as ListQuery
  return Boolean(q) || (tag !== undefined && tag.length > 0) || around !== undefined || skip >= deepFrom
}
