import { loadingCommand } from '../../engine/command.ts'
import { NotFound } from '../../lib/errors.ts'
import { kinds } from '../content/kinds.ts'
import { loadItem } from '../content/find.ts'
import { requireWrite } from '../apps/members/access.ts'
import { voteAdded, voteRemoved, type VoteFacts } from './events.ts'
import type { OptionRow } from './schema.ts'
import { countVotes, findVotes, listOptions, removeVote, saveVote } from './store.ts'

/** An option after a vote. */
export interface Voted {
  option: OptionRow
  hasVoted: boolean
}

/**
 * Votes for an option of a poll, in place of the caller's earlier vote; voting again for the option removes the vote.
 * Needs write access; 404 for an item in the trash.
 */
export const vote = loadingCommand(
  'vote',
  async (db, app, { item_type, item_id }: OptionRow, by) => ({
    ...(await loadItem(kinds[item_type], db, app, item_id)),
    options: (await listOptions(db, [item_id])).get(item_id) ?? [],
    voted: (await findVotes(db, [item_id], by.user)).get(item_id),
  }),
  (work, { id }): Voted => {
    const { by, loaded } = work
    const { item, options, voted } = loaded
    requireWrite(work.state, by, work.userCache)
    const option = options.find(one => one.id === id)
    if (option === undefined || item.trashed_at !== null) throw NotFound()

    const count = (row: OptionRow, change: 1 | -1): OptionRow => {
      const counted = { ...row, vote_count: row.vote_count + change }
      work.write(countVotes, { id: row.id, change })
      const facts: VoteFacts = { count: counted.vote_count }
      work.emit(change > 0 ? voteAdded : voteRemoved, { entity: row.id, body: counted, facts })
      return counted
    }
    const before = options.find(one => one.id === voted)
    const freed = before && count(before, -1)
    if (freed?.id === id) {
      work.write(removeVote, { item_id: item.id, user_id: by.user })
      return { option: freed, hasVoted: false }
    }
    work.write(saveVote, { item_id: item.id, user_id: by.user, id: work.nextId(), option_id: id })
    return { option: count(option, 1), hasVoted: true }
  },
)
