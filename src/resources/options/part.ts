import { toFirstItems } from '../../api/page.ts'
import { pagedList } from '../../api/shape.ts'
import { part } from '../content/parts/part.ts'
import { changeOptions } from './poll.ts'
import { showOption, showOptions } from './represent.ts'
import {
  EventOption,
  NewOptions,
  OptionChanges,
  OptionSummary,
  withoutText,
  type OptionChange,
  type OptionRow,
} from './schema.ts'
import { findVotes, listOptions, removeOptionsOf, removeVotesOf } from './store.ts'

/** The option that the caller voted for, by item. */
type Votes = ReadonlyMap<number, number>

/** The options of an item that is a poll. */
export const optionsPart = part<OptionRow[], Votes, OptionChange[]>()({
  none: [],
  column: 'option_count',
  load(db, items) {
    const ids = items.map(({ id }) => id)
    return listOptions(db, ids)
  },
  async readAbout(items, _values, { sql, by }) {
    const polls = items.flatMap(({ id, option_count }) => (option_count > 0 ? id : []))
    return by.kind !== 'user' || polls.length === 0 ? new Map() : findVotes(sql, polls, by.user)
  },
  shown: pagedList(OptionSummary).describe('Empty where it is no poll'),
  show: (options, { item, about: votes }) => toFirstItems(showOptions(options, votes.get(item.id))),
  told: pagedList(EventOption).optional(),
  present: options => toFirstItems(options.map(showOption)),
  withoutWords: options => options.map(withoutText),
  remove(work, { id }) {
    work.write(removeOptionsOf, { id })
    work.write(removeVotesOf, { id })
  },
  removeFromGone: db => [
    db`delete from options o using gone g where o.item_id = g.id`,
    db`delete from votes v using gone g where v.item_id = g.id`,
  ],
  input: {
    fields: { options: NewOptions.nullish().describe('The options of a poll') },
    changes: { options: OptionChanges.nullish().describe('The whole poll; empty: no poll any more') },
    prepare: ({ options }) => options ?? [],
    numbers: options => options.length,
    change: (work, { type, id, app_id }, before, options) =>
      changeOptions(work, { app_id, item_type: type, item_id: id }, before, options),
    columns: ({ length }) => ({ option_count: length }),
  },
})
