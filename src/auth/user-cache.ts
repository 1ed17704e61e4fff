import type { Db, Fragment, Sql } from '../postgres/sql.ts'
import { batchLoads } from '../postgres/batch-loads.ts'
import type { SharedLog } from '../log/shared-log.ts'

/** A user or agent as answers show it, without secrets. Replaced as a whole when it changes. */
export interface Person {
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
  /** What links to the picture are signed with. */
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
 * The people this node has met, in memory: authors, members, callers. Bounded; whoever was not used for longest goes
 * first. `refresh` keeps it true when users or directories change, here or on another node.
 */
export class People {
  readonly #sql: Sql
  readonly #capacity: number
  readonly #known = new Map<number, Person>()
  readonly #trashed = new Set<number>()
  readonly #reads = new Set<Read>()
  /** Together, because whoever comes is loaded, and after a restart everybody comes at once. */
  readonly #readSoon = batchLoads<number, Person>((_, ids) => this.#read(ids))

  /** 50,000 people take about 50 MB. */
  constructor(sql: Sql, capacity = 50_000) {
    this.#sql = sql
    this.#capacity = capacity
  }

  /** Hears from now on of what changes people, on this node or another. Call once, before anybody is loaded. */
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

  /** Everybody who is in the trash, loaded or not: few. */
  get trashed(): ReadonlySet<number> {
    return this.#trashed
  }

  /** From memory alone; undefined for those who were not loaded, or do not exist. */
  find(id: number): Person | undefined {
    const person = this.#known.get(id)
    if (person !== undefined && this.#known.size > this.#capacity / 2) {
      this.#known.delete(id)
      this.#known.set(id, person)
    }
    return person
  }

  /** Whoever it is, or the deleted user where nobody is. Load the ids first. */
  show(id: number): Person {
    return this.find(id) ?? this.#known.get(-1) ?? nobody
  }

  /** Brings the people with these ids into memory. */
  async load(ids: Iterable<number>): Promise<void> {
    const missing: number[] = []
    for (const id of ids) if (!this.#known.has(id)) missing.push(id)
    if (missing.length > 0) await this.#readSoon(this.#sql, missing)
  }

  /** One person, loaded if need be; undefined if there is none. */
  async get(id: number): Promise<Person | undefined> {
    await this.load([id])
    return this.find(id)
  }

  /** The ids of the directories that somebody is in; none for whoever is not there. */
  async directoriesOf(id: number): Promise<number[]> {
    return ((await this.get(id))?.directories ?? []).map(directory => directory.id)
  }

  /** Reads again those of `ids` that are in memory. */
  async refresh(ids: Iterable<number>): Promise<void> {
    const known: number[] = []
    for (const id of ids) {
      for (const read of this.#reads) if (read.ids.has(id)) read.isOld = true
      if (this.#known.has(id)) known.push(id)
    }
    if (known.length > 0) await this.#read(known)
  }

  /** Forgets everybody: for changes that may concern any number of people. */
  clear(): void {
    for (const read of this.#reads) read.isOld = true
    this.#known.clear()
  }

  async #readTrashed(): Promise<void> {
    const ids = await listTrashed(this.#sql)
    this.#trashed.clear()
    for (const id of ids) this.#trashed.add(id)
  }

  #membersOf(directory: number): number[] {
    // Somebody whose read is under way may be a member as well.
    for (const read of this.#reads) read.isOld = true
    const members = [...this.#known.values()].filter(({ directories }) =>
      directories.some(({ id }) => id === directory),
    )
    return members.map(({ id }) => id)
  }

  async #read(ids: number[]): Promise<Map<number, Person>> {
    const read: Read = { ids: new Set(ids), isOld: true }
    let people: Person[] = []
    this.#reads.add(read)
    try {
      // Whoever changes while the query runs is read again: what it found may be old already.
      while (read.isOld) {
        read.isOld = false
        people = await listPeople(this.#sql, [...read.ids])
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

const nobody: Person = {
  id: -1,
  uid: null,
  name: 'Deleted user',
  given_name: null,
  middle_name: null,
  family_name: null,
  nickname: null,
  email: null,
  phone_number: null,
  username: null,
  comment: null,
  picture_id: null,
  secret: '',
  metadata: null,
  tags: [],
  is_agent: false,
  display_name: 'Deleted user',
  created_at: new Date(0),
  updated_at: null,
  trashed_at: null,
  directories: [],
}

/** A query on its way; old when somebody whom it reads has changed meanwhile. */
interface Read {
  ids: Set<number>
  isOld: boolean
}

/** People by id, in no order. Served by the primary key of users. */
export function listPeople(db: Db, ids: number[]): Promise<Person[]> {
  return db<Person[]>`${selectPeople(db)} where u.id = any(${ids}::bigint[])`
}

/** Served by users_trashed. */
async function listTrashed(db: Db): Promise<number[]> {
  const rows = await db<{ id: number }[]>`select id from users where trashed_at is not null`
  return rows.map(({ id }) => id)
}

/** `select … from users u`, as Person. Served by directory_members_user. */
export function selectPeople(db: Db): Fragment {
  return db`
    select u.id, u.uid, u.name, u.given_name, u.middle_name, u.family_name, u.nickname, u.email, u.phone_number,
      u.username, u.comment, u.picture_id, u.secret, u.metadata, u.tags, u.is_agent, u.display_name,
      u.created_at, u.updated_at, u.trashed_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name) order by d.name)
        from directory_members m join directories d on d.id = m.directory_id
        where m.user_id = u.id
      ), '[]') as directories
    from users u`
}
