import type { Work } from '../../../engine/command.ts'
import { accessOf } from '../../apps/members/access.ts'
import { resolvePeople } from '../../users/store.ts'
import { listInvisible } from '../../users/visible.ts'
import type { Served } from '../../route.ts'
import {
  listMentions,
  parseText,
  settleMentions,
  toKept,
  type ParsedText,
  type ReadText,
  type Rendering,
} from './render.ts'

export type Author = Served<'sql' | 'by' | 'apps' | 'userCache' | 'renderer'>

/**
 * Parses a text for an app and loads the mentioned users, so that a command can decide about them. Synchronous for a
 * short text without mentions.
 */
export function prepareText(
  text: string | null | undefined,
  app: number,
  author: Author,
): ParsedText | Promise<ParsedText> {
  if (!text) return parseText(text)
  const read = author.renderer.read(author.by.user, { text })
  const isComplete = !(read instanceof Promise) && read.parsed !== null && read.parsed.mentions.length === 0
  return isComplete ? read.parsed : prepareMentions(text, read, app, author)
}

async function prepareMentions(
  text: string,
  read: ReadText | Promise<ReadText>,
  app: number,
  author: Author,
): Promise<ParsedText> {
  const { uids, parsed: known } = await read
  const parsed = known ?? (await parseWithIds(text, await resolveMentions(uids!, app, author), author))
  if (parsed.mentions.length > 0) await author.userCache.load(parsed.mentions)
  return parsed
}

async function parseWithIds(
  text: string,
  ids: ReadonlyMap<string, number>,
  { renderer, by }: Author,
): Promise<ParsedText> {
  const { parsed } = await renderer.read(by.user, { text, ids })
  return parsed!
}

/**
 * The ids for uids, of users who may read the app, or whom the author can see: with others, anyone could find out who
 * exists.
 */
async function resolveMentions(
  uids: string[],
  app: number,
  { sql, by, apps, userCache }: Author,
): Promise<Map<string, number>> {
  const ids = await resolvePeople(sql, uids)
  if (by.kind === 'key' || ids.size === 0) return ids
  await userCache.load(ids.values())
  const state = await apps.state(app)
  const others = [...ids.values()].filter(user => accessOf(state, user, userCache) === 'none')
  const hidden = await listInvisible(sql, by, others)
  return new Map([...ids].filter(([, user]) => !hidden.includes(user)))
}

/** The mentions that an edit changes. Absent members are empty. */
export interface MentionFacts {
  /** The users whom the text newly mentions: an edit notifies no others. */
  mentioned?: number[]
  /** The users whom it mentions no more: what they were told is taken back. */
  unmentioned?: number[]
}

/** What an edit changes about mentions, of two texts in HTML. */
export function compareMentions(before: string | null, after: string | null): MentionFacts {
  if (after === before) return {}
  const [old, now] = [new Set(listMentions(before)), new Set(listMentions(after))]
  const mentioned = [...now].filter(user => !old.has(user))
  const unmentioned = [...old].filter(user => !now.has(user))
  return { ...(mentioned.length > 0 && { mentioned }), ...(unmentioned.length > 0 && { unmentioned }) }
}

/**
 * The stored rendering of a text, decided in the app's mailbox: only existing users with access to the app are
 * mentioned.
 */
export function settleText(parsed: ParsedText, work: Work<unknown>): Rendering {
  const rendering = settleMentions(parsed, user => {
    const person = work.userCache.find(user)
    return person !== undefined && person.trashed_at === null && accessOf(work.state, user, work.userCache) !== 'none'
  })
  return toKept(rendering)
}
