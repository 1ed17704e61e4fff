import { LRUCache } from 'lru-cache'
import { deletedUser, systemUser } from '../../../auth/principal.ts'
import type { Db } from '../../../postgres/sql.ts'
import type { FileLine } from '../format.ts'
import { fault } from '../lines.ts'
import { insertRows } from './rows.ts'

/** What a line of a file has become. */
export interface Target {
  type: string
  id: number
}

/** Messages, posts, comments and files share one space of ids. */
const spaces = {
  directory: 'directory',
  user: 'user',
  app: 'app',
  blob: 'blob',
  message: 'item',
  post: 'item',
  comment: 'item',
  file: 'item',
} as const
export type Space = (typeof spaces)[keyof typeof spaces]

/** The members of lines that name another line. */
const naming: Record<string, Space> = {
  ...{ user: 'user', followed: 'user', owner: 'user', created_by: 'user', updated_by: 'user', pair: 'user' },
  ...{ mentions: 'user', directory: 'directory', directories: 'directory', app: 'app', blob: 'blob', image: 'blob' },
  ...{ item: 'item', parent: 'item', marked: 'item', archived: 'item', hidden: 'item' },
}

/** Enough for those of many batches; what was evicted is looked up again. */
const rememberedLimit = 200_000

/** Which rows the lines of one source have become, in this run and in earlier ones. */
export class Refs {
  readonly #source: string
  readonly #known = new LRUCache<string, Target>({ max: rememberedLimit })
  #fresh: (Target & { source: string; ref: string })[] = []

  constructor(source: string) {
    this.#source = source
    this.#known.set('user:system', { type: 'user', id: systemUser })
    this.#known.set('user:deleted', { type: 'user', id: deletedUser })
  }

  /** Looks up what some lines are, and what they name, so that the other methods know it. `users`: further ones. */
  async load(db: Db, lines: readonly FileLine[], users: Iterable<string> = []): Promise<void> {
    const wanted = new Set<string>()
    const want = (space: Space, ref: string) => void (this.#known.has(`${space}:${ref}`) || wanted.add(ref))
    for (const ref of users) want('user', ref)
    for (const line of lines) {
      if ('id' in line) want(spaces[line.type], line.id)
      const { embed = null, meeting = null, versions = [] } = line as { embed?: {}; meeting?: {}; versions?: {}[] }
      for (const part of [line, embed, meeting, ...versions]) {
        for (const [name, value] of Object.entries(part ?? {})) {
          const space = naming[name]
          if (space === undefined || value === null || value === undefined) continue
          for (const ref of Array.isArray(value) ? value : [value]) want(space, ref as string)
        }
      }
    }
    if (wanted.size === 0) return
    const rows = await db<(Target & { ref: string })[]>`
      select type, ref, id from imported where source = ${this.#source} and ref = any(${[...wanted]}::text[])`
    for (const { type, ref, id } of rows) this.#remember(type as keyof typeof spaces, ref, id)
  }

  find(space: Space, ref: string): Target | undefined {
    return this.#known.get(`${space}:${ref}`)
  }

  /** StartFault where no line before has this id. */
  need(space: Space, ref: string, line: number): Target {
    const found = this.find(space, ref)
    if (found === undefined) throw fault(line, `There is no ${space} with the id ${ref} before it.`)
    return found
  }

  /** The id of what a line names; null where it names nothing. */
  idOf(space: Space, ref: string | null | undefined, line: number): number | null {
    return ref === null || ref === undefined ? null : this.need(space, ref, line).id
  }

  add(type: keyof typeof spaces, ref: string, id: number): void {
    this.#remember(type, ref, id)
    this.#fresh.push({ source: this.#source, type, ref, id })
  }

  /** Stores what was added. */
  async save(db: Db): Promise<void> {
    await insertRows(db, 'imported', this.#fresh)
    this.#fresh = []
  }

  #remember(type: keyof typeof spaces, ref: string, id: number): void {
    this.#known.set(`${spaces[type]}:${ref}`, { type, id })
  }
}
