import type { Sql } from '../storage/sql.ts'

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
  #version = 0

  /** 50,000 people take about 50 MB. */
  constructor(sql: Sql, capacity = 50_000) {
    this.#sql = sql
    this.#capacity = capacity
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

  /** Brings the people with these ids into memory, in one query for those who are missing. */
  async load(ids: Iterable<number>): Promise<void> {
    const missing: number[] = []
    for (const id of ids) if (!this.#known.has(id)) missing.push(id)
    if (missing.length > 0) await this.#read(missing)
  }

  /** One person, loaded if need be; undefined if there is none. */
  async get(id: number): Promise<Person | undefined> {
    if (!this.#known.has(id)) await this.#read([id])
    return this.find(id)
  }

  /** Reads again those of `ids` that are in memory. */
  async refresh(ids: Iterable<number>): Promise<void> {
    this.#version++
    const known = [...ids].filter(id => this.#known.has(id))
    if (known.length > 0) await this.#read(known)
  }

  /** Forgets everybody: for changes that may concern any number of people. */
  clear(): void {
    this.#version++
    this.#known.clear()
  }

  async #read(ids: number[]): Promise<void> {
    const unique = [...new Set(ids)]
    for (;;) {
      const version = this.#version
      const people = await listPeople(this.#sql, unique)
      // Somebody changed while the query ran: what it found may be old already.
      if (version !== this.#version) continue
      for (const id of unique) this.#known.delete(id)
      for (const person of people) this.#known.set(person.id, person)
      break
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= this.#capacity) break
      this.#known.delete(id)
    }
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
  metadata: null,
  tags: [],
  is_agent: false,
  display_name: 'Deleted user',
  created_at: new Date(0),
  updated_at: null,
  trashed_at: null,
  directories: [],
}

/** Served by the primary keys of users and directories and directory_members_user. */
function listPeople(sql: Sql, ids: number[]): Promise<Person[]> {
  return sql<Person[]>`
    select u.id, u.uid, u.name, u.given_name, u.middle_name, u.family_name, u.nickname, u.email, u.phone_number,
      u.username, u.comment, u.picture_id, u.metadata, u.tags, u.is_agent, u.display_name,
      u.created_at, u.updated_at, u.trashed_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name) order by d.name)
        from directory_members m join directories d on d.id = m.directory_id
        where m.user_id = u.id
      ), '[]') as directories
    from users u
    where u.id = any(${ids}::bigint[])`
}
