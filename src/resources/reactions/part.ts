import { toFirstItems } from '../../api/page.ts'
import { pagedList } from '../../api/shape.ts'
import { part } from '../content/parts/part.ts'
import type { ContentRow } from '../content/schema.ts'
import { showReaction } from './represent.ts'
import { Reaction, type ReactionRow } from './schema.ts'
import { listFirst, removeReactionsOf } from './store.ts'

/** The most reactions within an item; the others are in their list. */
const shownReactions = 100

/**
 * The most reactions in a response to a client that counts them itself: as many as 100 items have in any other
 * response.
 */
const mostReactions = 100 * shownReactions

/** The first reactions to an item; its row has their number. */
export const reactionsPart = part<ReactionRow[]>()({
  none: [],
  column: 'reaction_count',
  isCounted: true,
  load(db, items, counter) {
    const most = counter === null ? shownReactions : shareOf(mostReactions, items)
    // A client that counts always gets the caller's own.
    const own = counter?.kind === 'user' ? counter.user : null
    const ids = items.map(({ id }) => id)
    return listFirst(db, ids, most, own)
  },
  isWhole: (reactions, { reaction_count }) => reactions.length === reaction_count,
  names: reactions => reactions.map(({ user_id }) => user_id),
  shown: pagedList(Reaction).describe(
    'The first 100; for the UI kit, which counts them, all that an answer has room for',
  ),
  told: pagedList(Reaction).optional(),
  present(reactions, { reaction_count }, { userCache, origin }) {
    const shown = reactions.map(reaction => showReaction(reaction, userCache, origin))
    return toFirstItems(shown, reaction_count)
  },
  remove: (work, { id }) => work.write(removeReactionsOf, { id }),
  removeFromGone: db => [db`delete from reactions r using gone g where r.item_id = g.id`],
})

/** The most reactions of each item so that all fit: items with few leave room for the others. */
function shareOf(room: number, items: readonly ContentRow[]): number {
  const counts = items.map(item => item.reaction_count).sort((a, b) => a - b)
  let left = room
  for (const [i, count] of counts.entries()) {
    const share = Math.floor(left / (counts.length - i))
    if (count > share) return share
    left -= count
  }
  return room
}
