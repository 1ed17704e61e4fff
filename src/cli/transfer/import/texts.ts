import type { Db } from '../../../postgres/sql.ts'
import { foldName } from '../../../lib/name.ts'
import { resolvePeople } from '../../../resources/users/store.ts'
import {
  moveMentions,
  parseText,
  settleMentions,
  toKept,
  type Rendering,
} from '../../../resources/content/text/render.ts'
import type { FileLine, LineOf } from '../format.ts'
import type { Numbered } from '../lines.ts'
import type { Refs } from './refs.ts'

export type ContentLine = Numbered<LineOf<'message' | 'post' | 'comment'>>

/** The users that texts mention, by the ids of the file and by uids. */
export interface Mentioned {
  refs: string[]
  uids: string[]
}

export function isContent(line: FileLine): line is LineOf<'message' | 'post' | 'comment'> {
  return line.type === 'message' || line.type === 'post' || line.type === 'comment'
}

export function listMentioned(lines: readonly FileLine[]): Mentioned {
  const [refs, uids] = [new Set<string>(), new Set<string>()]
  for (const line of lines) {
    if (!isContent(line) || !line.text) continue
    moveMentions(line.text, ({ user, uid }) => {
      if (user !== null) refs.add(String(user))
      if (uid !== null) uids.add(uid)
      return null
    })
  }
  return { refs: [...refs], uids: [...uids] }
}

/** Renders the texts of items as sending them would. */
export class Texts {
  readonly #refs: Refs
  readonly #uids: Map<string, number>

  private constructor(refs: Refs, uids: Map<string, number>) {
    this.#refs = refs
    this.#uids = uids
  }

  /** Call after the users of the same lines were added. */
  static async open(db: Db, refs: Refs, { uids }: Mentioned): Promise<Texts> {
    const found = await resolvePeople(db, uids)
    return new Texts(refs, new Map(Array.from(found, ([uid, id]) => [foldName(uid), id])))
  }

  /** `mentions`: the users whom the text mentioned where it comes from; absent, all that are known. */
  render({ text, mentions, number }: ContentLine): Rendering {
    if (!text) return { text: null, html: null, plain: null }
    const effective = mentions && new Set(mentions.map(ref => this.#refs.need('user', ref, number).id))
    const moved = moveMentions(text, ({ user, uid }) => {
      if (uid === null) return this.#refs.find('user', String(user))?.id ?? null
      const id = this.#uids.get(foldName(uid))
      return id !== undefined && effective?.has(id) === false ? undefined : id
    })
    return toKept(settleMentions(parseText(moved), user => effective?.has(user) ?? true))
  }
}
