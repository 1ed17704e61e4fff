import type { Work } from '../../../actors/command.ts'
import type { People } from '../../../actors/people.ts'
import { accessOf } from '../../members/access.ts'
import { resolvePeople } from '../../users/store.ts'
import type { Sql } from '../../../storage/sql.ts'
import { toKept } from './kept.ts'
import {
  listMentionedUids,
  listMentions,
  parseText,
  settleMentions,
  type ParsedText,
  type Rendering,
} from './render.ts'

/**
 * Parses a text and brings everybody it mentions into memory, so that a command can decide about them. At once where it
 * mentions nobody.
 */
export function prepareText(
  text: string | null | undefined,
  sql: Sql,
  people: People,
): ParsedText | Promise<ParsedText> {
  const uids = listMentionedUids(text)
  const parsed = uids.length === 0 ? parseText(text) : null
  return parsed !== null && parsed.mentions.length === 0 ? parsed : prepareMentions(text, uids, sql, people)
}

async function prepareMentions(
  text: string | null | undefined,
  uids: string[],
  sql: Sql,
  people: People,
): Promise<ParsedText> {
  const parsed = parseText(text, uids.length === 0 ? undefined : await resolvePeople(sql, uids))
  if (parsed.mentions.length > 0) await people.load(parsed.mentions)
  return parsed
}

/** Whom a text mentions that the one before it did not: an edit notifies nobody else. */
export function listNewMentions(before: string | null, after: string | null): number[] {
  if (after === before) return []
  const known = new Set(listMentions(before))
  return listMentions(after).filter(user => !known.has(user))
}

const empty: Rendering = { text: null, html: null, plain: null }

/** What to keep of a text, decided in the app's mailbox: only people who are there and may read the app are mentioned. */
export function settleText<Loaded>(parsed: ParsedText | null, work: Work<Loaded>): Rendering {
  if (parsed === null) return empty
  const rendering = settleMentions(parsed, user => {
    const person = work.people.find(user)
    return person !== undefined && person.trashed_at === null && accessOf(work.state, user, work.people) !== 'none'
  })
  return toKept(rendering)
}
