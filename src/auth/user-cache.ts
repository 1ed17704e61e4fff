import type { Db, Fragment, Sql } from '../postgres/sql.ts'
import { batchLoads } from '../postgres/batch-loads.ts'
import type { SharedLog } from '../log/shared-log.ts'

/** A user or agent as responses show it, without secrets. Immutable: a change replaces it. */
export interface User {
  readonly id: number
  readonly uid: string | null
  readonly name: string | null
  readonly given_name: string | null
  readonly middle_name: string | null
  readonly family_name: string | null
  readonly nickname: string | null
  readonly email: string | null
  readonly phone_number: string | null
  readonly username: string | null
  readonly comment: string | null
  readonly picture_id: number | null
  /** Where a token of the host said that the picture is. */
  readonly picture_url: string | null
  /** When the newest token of the host was issued that changed the profile. */
  readonly claimed_at: Date | null
  /** The secret that signs links to the picture. */
  readonly secret: string
  readonly metadata: Record<string, unknown> | null
  readonly tags: string[]
  readonly is_agent: boolean
  readonly display_name: string
  readonly created_at: Date
  readonly updated_at: Date | null
  readonly trashed_at: Date | null
  readonly directories: { id: number; name: string }[]
}

/**
 * The users that this node has met, in memory: authors, members, callers. Bounded; the least recently used are evicted
 * first. Changes of users and directories, on any node, are read again through the shared log.
 */
export class UserCache {
  readonly #sql: Sql
  readonly #capacity: number
  readonly #known = new Map<number, User>()
  readonly #trashed = new Set<number>()
  readonly #reads = new Set<Read>()
  /** Batched, because after a restart the users of all requests are loaded at once. */
  readonly #readBatched = batchLoads<number, User>((_, ids) => this.#read(ids))

  /** Memory: 50,000 users take about 50 MB. */
  constructor(sql: Sql, capacity = 50_000) {
    this.#sql = sql
    this.#capacity = capacity
  }

  /** Subscribes to changes of users and directories, on any node. Call once, before any user is loaded. */
  async follow(sharedLog: SharedLog): Promise<void> {
    sharedLog.listen(async ({ type, entity_type, entity_id, facts }) => {
      if (type === 'everything') {
        this.clear()
        await this.#readTrashed()
      } else if (entity_type === 'user') {
        if (type === 'user_trashed') this.#trashed.add(entity_id)
        else if (type === 'user_restored' || type === 'user_deleted') this.#trashed.delete(entity_id)
        await this.refresh([entity_id])
      } else if (type === 'directory_members_changed') await this.refresh((facts as { users: number[] }).users)
      else if (entity_type === 'directory') await this.refresh(this.#membersOf(entity_id))
    })
    await this.#readTrashed()
  }

  /** The ids of all users in the trash, loaded or not; they are few. */
  get trashed(): ReadonlySet<number> {
    return this.#trashed
  }

  /** A user from memory; undefined where it was not loaded or does not exist. */
  find(id: number): User | undefined {
    const person = this.#known.get(id)
    if (person !== undefined && this.#known.size > this.#capacity / 2) {
      this.#known.delete(id)
      this.#known.set(id, person)
    }
    return person
  }

  /** A user from memory to show in a response, or the deleted user where it does not exist. Load the ids first. */
  show(id: number): User {
    return this.find(id) ?? this.#known.get(-1) ?? deletedUser
  }

  /** Loads users into memory. */
  async load(ids: Iterable<number>): Promise<void> {
    const missing: number[] = []
    for (const id of ids) if (!this.#known.has(id)) missing.push(id)
    if (missing.length > 0) await this.#readBatched(this.#sql, missing)
  }

  /** One user, loaded if necessary; undefined where it does not exist. */
  async get(id: number): Promise<User | undefined> {
    await this.load([id])
    return this.find(id)
  }

  /** The ids of a user's directories; empty where the user does not exist. */
  async directoriesOf(id: number): Promise<number[]> {
    return ((await this.get(id))?.directories ?? []).map(directory => directory.id)
  }

  /** Reads the users among `ids` again that are in memory. */
  async refresh(ids: Iterable<number>): Promise<void> {
    const known: number[] = []
    for (const id of ids) {
      for (const read of this.#reads) if (read.ids.has(id)) read.isStale = true
      if (this.#known.has(id)) known.push(id)
    }
    if (known.length > 0) await this.#read(known)
  }

  /** Evicts all users, for changes that may concern any number of them. */
  clear(): void {
    for (const read of this.#reads) read.isStale = true
    this.#known.clear()
  }

  async #readTrashed(): Promise<void> {
    const ids = await listTrashed(this.#sql)
    this.#trashed.clear()
    for (const id of ids) this.#trashed.add(id)
  }

  #membersOf(directory: number): number[] {
    // A user who is being loaded may be a member too.
    for (const read of this.#reads) read.isStale = true
    const members = [...this.#known.values()].filter(({ directories }) =>
      directories.some(({ id }) => id === directory),
    )
    return members.map(({ id }) => id)
  }

  async #read(ids: number[]): Promise<Map<number, User>> {
    const read: Read = { ids: new Set(ids), isStale: true }
    let people: User[] = []
    this.#reads.add(read)
    try {
      // A user that changed while the query ran may have been read before the change.
      while (read.isStale) {
        read.isStale = false
        people = await listUsersById(this.#sql, [...read.ids])
      }
    } finally {
      this.#reads.delete(read)
    }
    const found = new Map(people.map(person => [person.id, person]))
    for (const id of read.ids) this.#known.delete(id)
    for (const [id, person] of found) this.#known.set(id, person)
    for (const id of this.#known.keys()) {
      if (this.#known.size <= this.#capacity) break
      this.#known.delete(id)
    }
    return found
  }
}

/** What can be said of a user, all of it unsaid. */
export const blankProfile = {
  uid: null,
  name: null,
  given_name: null,
  middle_name: null,
  family_name: null,
  nickname: null,
  email: null,
  phone_number: null,
  username: null,
  comment: null,
  picture_id: null,
  picture_url: null,
  claimed_at: null,
  metadata: null,
  tags: [],
}

const deletedUser: User = {
  ...blankProfile,
  id: -1,
  name: 'Deleted user',
  secret: '',
  is_agent: false,
  display_name: 'Deleted user',
  created_at: new Date(0),
  updated_at: null,
  trashed_at: null,
  directories: [],
}

/** A running query; stale where a user that it reads has changed since it began. */
interface Read {
  ids: Set<number>
  isStale: boolean
}

/** Users by id, in no order. Served by the primary key of users. */
export function listUsersById(db: Db, ids: number[]): Promise<User[]> {
  return db<User[]>`${selectUsers(db)} where u.id = any(${ids}::bigint[])`
}

/** Served by users_trashed. */
async function listTrashed(db: Db): Promise<number[]> {
  const rows = await db<{ id: number }[]>`select id from users where trashed_at is not null`
  return rows.map(({ id }) => id)
}

/** `select … from users u`, as `User`. Served by directory_members_user. */
export function selectUsers(db: Db): Fragment {
  return db`
    select u.id, u.uid, u.name, u.given_name, u.middle_name, u.family_name, u.nickname, u.email, u.phone_number,
      u.username, u.comment, u.picture_id, u.picture_url, u.claimed_at, u.secret, u.metadata, u.tags, u.is_agent, u.display_name,
      u.created_at, u.updated_at, u.trashed_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name) order by d.name)
        from directory_members m join directories d on d.id = m.directory_id
        where m.user_id = u.id
      ), '[]') as directories
    from users u`
}
