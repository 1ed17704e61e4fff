import type { Work } from '../../engine/command.ts'
import { invalid } from '../../lib/errors.ts'
import { UnknownOption, type OptionChange, type OptionRow } from './schema.ts'
import { insertOption, removeOption, removeVotesFor, updateOption } from './store.ts'

/** The item of a poll. */
export type Asking = Pick<OptionRow, 'app_id' | 'item_type' | 'item_id'>

/**
 * Changes a poll to `wanted`: options with an id keep their votes, those without one are new, the others are removed
 * with their votes. 422 for an id that is not in the poll, or twice. Uses a number for each new option.
 */
export function changeOptions(
  work: Work<unknown>,
  asking: Asking,
  before: readonly OptionRow[],
  wanted: readonly OptionChange[],
): OptionRow[] {
  const left = new Map(before.map(row => [row.id, row]))
  const after = wanted.map(({ id, text }, position) => {
    if (id === null || id === undefined) return addOption(work, { ...asking, position, text })
    const row = left.get(id)
    if (row === undefined) throw before.some(one => one.id === id) ? NamedTwice() : UnknownOption(id)
    left.delete(id)
    const changed = { ...row, position, text }
    if (row.position !== position || row.text !== text) work.write(updateOption, changed)
    return changed
  })
  for (const { id, vote_count } of left.values()) {
    work.write(removeOption, { id })
    if (vote_count > 0) work.write(removeVotesFor, { id })
  }
  return after
}

const NamedTwice = () => invalid({ options: ['must name each option once'] })

function addOption(work: Work<unknown>, option: Omit<OptionRow, 'id' | 'vote_count'>): OptionRow {
  const row = { ...option, id: work.nextId(), vote_count: 0 }
  work.write(insertOption, row)
  return row
}
