import type { UserCache } from '../../auth/user-cache.ts'
import { toFirstItems } from '../../api/page.ts'
import { summaryOf } from '../users/represent.ts'
import type { OptionRow } from './schema.ts'

/** An option within its item, in lists and in events. */
export function showOption({ id, text, vote_count }: OptionRow) {
  // Nothing where it was left out for webhooks: no option is blank.
  return { id, text: text || null, votes: { count: vote_count } }
}

/** The options of an item for a user who voted for `voted`, or for none. */
export function showOptions(rows: readonly OptionRow[], voted: number | undefined) {
  return rows.map(row => ({ ...showOption(row), has_voted: row.id === voted }))
}

interface Voters {
  users: number[]
  hasVoted: boolean
  userCache: UserCache
  origin: string
}

/** A detailed option with its voters, who must be in memory. */
export function showWithVoters(row: OptionRow, { users, hasVoted, userCache, origin }: Voters) {
  const voters = users.map(user => summaryOf(userCache.show(user), origin))
  return {
    ...showOption(row),
    has_voted: hasVoted,
    votes: toFirstItems(voters, row.vote_count),
  }
}
