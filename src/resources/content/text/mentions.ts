import type { Work } from '../../../engine/command.ts'
import { accessOf } from '../../apps/members/access.ts'
import { resolvePeople } from '../../users/store.ts'
import { listInvisible } from '../../users/visible.ts'
import type { Served } from '../../route.ts'
import {
  listMentionedUids,
  listMentions,
  parseText,
  settleMentions,
  toKept,
  type ParsedText,
  type Rendering,
} from './render.ts'

export type Author = Served<'sql' | 'by' | 'apps' | 'userCache'>

/**
 * Parses a text for an app and loads the mentioned users, so that a command can decide about them. Synchronous without
 * mentions.
 */
export function prepareText(
  text: string | null | undefined,
  app: number,
  author: Author,
): ParsedText | Promise<ParsedText> {
  const uids = listMentionedUids(text)
  const parsed = uids.length === 0 ? parseText(text) : null
  return parsed !== null && parsed.mentions.length === 0 ? parsed : prepareMentions(text, uids, app, author)
}

async function prepareMentions(
  text: string | null | undefined,
  uids: string[],
  app: number,
  author: Author,
): Promise<ParsedText> {
  const parsed = parseText(text, uids.length === 0 ? undefined : await resolveMentions(uids, app, author))
  if (parsed.mentions.length > 0) await author.userCache.load(parsed.mentions)
  return parsed
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

/** The users whom a text newly mentions: an edit notifies no others. */
export function listNewMentions(before: string | null, after: string | null): number[] {
  if (after === before) return []
  const known = new Set(listMentions(before))
  return listMentions(after).filter(user => !known.has(user))
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
