import { z } from 'zod'
import { invalid } from '../../lib/errors.ts'
import { foldName } from '../../lib/name.ts'
import { IdInput, Int, pagedList, VisibleInput } from '../../api/shape.ts'
import { Range } from '../../api/page.ts'
import { UserSummary } from '../users/schema.ts'

const text = VisibleInput(256)

const isEachOnce = (options: { text: string }[]) =>
  new Set(options.map(one => foldName(one.text))).size === options.length
const eachOnce = 'must differ by more than case and characters that are not seen'

/** The most options of a poll. A rule of the API. */
const most = 50

/** The options of a new poll. */
export const NewOptions = z.array(z.object({ text })).max(most).refine(isEachOnce, eachOnce)

/**
 * The whole poll after the change: an option with an id keeps its votes, one without is new, the others are removed.
 */
export const OptionChanges = z
  .array(z.object({ id: IdInput.nullish().describe('Keeps this option and its votes; without it, it is new'), text }))
  .max(most)
  .refine(isEachOnce, eachOnce)
export type OptionChange = z.output<typeof OptionChanges>[number]

const fields = { id: Int, text: z.string(), has_voted: z.boolean().describe('By the caller') }

/** An option of a poll in lists. */
export const OptionItem = z.object(fields).meta({ id: 'OptionItem' })

/** An option within its item. */
export const OptionSummary = OptionItem.extend({ votes: z.object({ count: Int }) }).meta({ id: 'OptionSummary' })

/** An option in events: without members that differ between readers. */
export const EventOption = OptionSummary.omit({ has_voted: true }).meta({ id: 'EventOption' })

/** A detailed option, with its first voters. */
export const Option = z
  .object({ ...fields, votes: pagedList(UserSummary).describe('The first 100 voters, in voting order') })
  .meta({ id: 'Option' })

export const Options = pagedList(z.union([OptionSummary, OptionItem]))
export const OptionListing = Range

/** A row of `options`. */
export interface OptionRow {
  id: number
  app_id: number
  item_type: 'message' | 'post' | 'comment'
  item_id: number
  position: number
  text: string
  vote_count: number
}

/** The option without what it says, as deliveries keep it. */
export function withoutText(row: OptionRow): OptionRow {
  return { ...row, text: '' }
}

export const UnknownOption = (id: number) => invalid({ options: [`there is no option ${id} in this poll`] })
