import { z } from 'zod'
import { byId, event, type AppEvent, type PresentationContext } from '../../engine/event.ts'
import { showAppRef } from '../apps/represent.ts'
import { EventRef } from '../apps/schema.ts'
import { showOption } from './represent.ts'
import { EventOption, withoutText, type OptionRow } from './schema.ts'
import { findShownOptions } from './store.ts'

/** The facts of a vote: the option's number of votes after it. */
export type VoteFacts = { count: number }

/** Counts of votes are not part of an app's state, so there is nothing to apply. */
const change = (type: string) =>
  event<OptionRow>({
    type,
    entity: 'option',
    isActivity: false,
    isGuard: () => false,
    trigger: 'polls',
    load: byId(findShownOptions),
    countAsOf: (option, { facts }) => ({
      ...option,
      vote_count: (facts as VoteFacts | null)?.count ?? option.vote_count,
    }),
    present: ({ body }, context) => body && { poll: showPoll(body, context), option: showOption(body) },
    schema: z.object({ poll: EventRef.omit({ parent: true }).extend({ type: z.string() }), option: EventOption }),
    redact: ({ body }: AppEvent<OptionRow>, context) =>
      body && { poll: showPoll(body, context), option: showOption(withoutText(body)) },
  })

function showPoll({ item_id, item_type }: OptionRow, { app, origin }: PresentationContext) {
  return { id: item_id, type: item_type, app: showAppRef(app, origin) }
}

export const voteAdded = change('vote_added')
export const voteRemoved = change('vote_removed')

export const events = [voteAdded, voteRemoved]
