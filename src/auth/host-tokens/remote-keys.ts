import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import { pause, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import type { Egress } from '../../egress/egress.ts'
import { toHostKeys, type HostKey, type HostKeys } from './keys.ts'
import { HostKeysUnavailable } from './refusals.ts'

/**
 * Whose turn it is to ask the host. `ours`: of this node. `pending`: another node is asking. `settled`: `keys` are as new as
 * they may be.
 */
export interface Turn {
  state: 'ours' | 'pending' | 'settled'
  /** The newest set that any node has got; null before the first. */
  keys: JSONWebKeySet | null
}

/** Where all nodes keep the newest set. */
export interface KeySetStore {
  read(): Promise<JSONWebKeySet | null>
  /** Takes the turn, if it is time to ask the host again and no other node is doing that. */
  takeTurn(): Promise<Turn>
  /** Ends the turn without an answer. */
  giveUp(): Promise<void>
  /** Keeps the host's answer. Where it is another set, all nodes learn of it by `host_keys_changed`. */
  keep(keys: JSONWebKeySet): Promise<void>
}

interface RemoteKeysOptions {
  url: string
  egress: Pick<Egress, 'send'>
  store: KeySetStore
  sharedLog: SharedLog
  clock: Clock
  log: Log
}

/** The limit of one answer of the host, and the time after which another node may ask instead. */
export const answerSeconds = 5

/** A set of a hundred keys with certificates takes some 300 KB. */
const answerBytes = 1024 * 1024
const redirects = 3

/** How often it is looked whether the answer of another node is there. */
const pendingMs = 200

/** How often unknown keys may make this node look into the database. */
const lookMs = 1_000

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })

/**
 * The key set at a URL of the host. All nodes share one copy in the database: one of them asks the host again, where a token
 * names an unknown key and `refresh` says so, as often as the store gives turns. While the host is away, or answers with
 * something else, the last set stays. Nothing is lost with the process.
 */
export class RemoteKeys implements HostKeys {
  readonly #options: RemoteKeysOptions
  readonly #listeners: ((ids: ReadonlySet<string>) => void)[] = []
  /** Null before the first answer. */
  #keys: readonly HostKey[] | null = null
  #text = ''
  #refreshing: Promise<void> | null = null
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: RemoteKeysOptions) {
    this.#options = options
    options.sharedLog.listen(async ({ type }) => {
      if (type === 'host_keys_changed' || type === 'everything') await this.#adopt(await options.store.read())
    })
  }

  onGone(listener: (ids: ReadonlySet<string>) => void): void {
    this.#listeners.push(listener)
  }

  async find(kid: string | undefined): Promise<readonly HostKey[]> {
    const found = this.#matching(kid)
    if (found.length > 0) return found
    await this.#look()
    if (this.#keys === null) throw HostKeysUnavailable()
    return this.#matching(kid)
  }

  /** Asks the host again, if it is time, and takes over what other nodes have got. Rejects where the host is away. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  #matching(kid: string | undefined): readonly HostKey[] {
    const keys = this.#keys ?? []
    return kid === undefined ? keys : keys.filter(key => key.kid === kid)
  }

  async #look(): Promise<void> {
    const { clock, log, url } = this.#options
    if (this.#refreshing === null && clock.now() < this.#lookedAt + lookMs) return
    this.#lookedAt = clock.now()
    try {
      await this.refresh()
    } catch (error) {
      log.warn({ url, error }, 'The keys of the host cannot be read; the last ones stay')
    }
  }

  async #refresh(): Promise<void> {
    const { store, clock } = this.#options
    let turn = await store.takeTurn()
    while (turn.state === 'pending') {
      await pause(clock, pendingMs)
      turn = await store.takeTurn()
    }
    await this.#adopt(turn.keys)
    if (turn.state !== 'ours') return
    let keys: JSONWebKeySet
    try {
      keys = await this.#ask()
    } catch (error) {
      await store.giveUp()
      throw error
    }
    await store.keep(keys)
    await this.#adopt(keys)
  }

  async #ask(): Promise<JSONWebKeySet> {
    const { url, egress } = this.#options
    const { status, body, isCut } = await egress.send({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      deadlineMs: answerSeconds * 1000,
      keepBytes: answerBytes,
      redirects,
    })
    if (status !== 200 || isCut) throw new Error(`The host answered ${status} where its keys should be`)
    return KeySet.parse(JSON.parse(body.toString()))
  }

  async #adopt(set: JSONWebKeySet | null): Promise<void> {
    const text = JSON.stringify(set)
    if (set === null || text === this.#text) return
    const keys = await toHostKeys(set)
    const left = new Set(keys.map(({ id }) => id))
    const gone = new Set((this.#keys ?? []).map(({ id }) => id).filter(id => !left.has(id)))
    this.#keys = keys
    this.#text = text
    if (gone.size > 0) for (const listener of this.#listeners) listener(gone)
  }
}
