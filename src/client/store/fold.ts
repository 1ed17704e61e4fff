import type { ActorRef, EventContent, EventFile, EventOption, Reaction } from '../connection/event-members.ts'
import type { ItemType, RealtimeEvent } from '../connection/frames.ts'

/** An option of a poll, and whether the user has voted for it. */
export interface Option extends EventOption {
  has_voted: boolean
}

interface Options {
  data?: Option[]
  start?: number
  end?: number
  count: number
}

/** A message, post or comment in a collection. */
export interface Content extends Omit<EventContent, 'app' | 'options'> {
  options?: Options
}

/** A file in a collection. */
export type StoredFile = Omit<EventFile, 'app'>

export type Item = Content | StoredFile

/** What an event says of one item of a list; `item` as in `Items.apply`, or 'unknown' where it is to be read again. */
export interface ItemChange {
  id: number
  change: (item: Item | undefined) => Item | null | undefined | 'unknown'
}

/** Items have as many reactions with them at most; further ones are counted only. */
const reactionsShown = 100

/**
 * An item as the server wrote it, without what differs between events and answers: the app, which its list knows, and
 * what belongs to the user and has no events.
 */
export function toItem(written: object, before?: Item): Item {
  const { app: _app, is_starred: _star, is_subscribed: _subscription, ...item } = written as Record<string, unknown>
  const options = item.options as Options | undefined
  if ('parent' in item) {
    // How many comments it has is said of the parent.
    const { comments: _comments, ...parent } = item.parent as Record<string, unknown>
    item.parent = parent
  }
  if (options?.data !== undefined) {
    const voted = before === undefined ? undefined : optionsOf(before).find(({ has_voted }) => has_voted)?.id
    const data = options.data.map(option => ({ ...option, has_voted: option.has_voted ?? option.id === voted }))
    item.options = { ...options, data }
  }
  return item as unknown as Item
}

/** What an event says of the items of a list of this type; undefined where it says nothing of them. */
export function toChange(type: ItemType, event: RealtimeEvent, user: number | undefined): ItemChange | undefined {
  const [noun, verb] = event.event.split('_')
  if (noun === type) return toOwnChange(verb!, (event as unknown as Record<string, Written>)[noun]!)
  switch (event.event) {
    case 'reaction_added':
    case 'reaction_removed': {
      const { entity, actor, created_at } = event
      if (entity.type !== type) return undefined
      const reaction = verb === 'added' ? { content: event.reaction, created_at, created_by: actor } : null
      return { id: entity.id, change: item => item && react(item, actor, reaction) }
    }
    case 'vote_added':
    case 'vote_removed': {
      const { poll, option, actor } = event
      if (poll.type !== type) return undefined
      const has_voted = actor.id === user ? verb === 'added' : undefined
      return { id: poll.id, change: item => item && count(item, option, has_voted) }
    }
    default: {
      const child = (event as unknown as Record<string, Written>)[noun!]
      const parent = child?.parent
      if (parent?.type !== type) return undefined
      if (noun === 'comment') return { id: parent.id, change: item => item && comment(item, parent.comments) }
      // An attachment has changed.
      return noun === 'file' ? { id: parent.id, change: item => item && 'unknown' } : undefined
    }
  }
}

interface Written {
  id: number
  is_trashed?: boolean
  options?: Options
  parent?: { id: number; type: string; comments?: { count: number } }
}

function toOwnChange(verb: string, written: Written): ItemChange {
  const isGone = verb === 'deleted' || written.is_trashed === true
  return {
    id: written.id,
    change: before => {
      if (isGone) return null
      // Whether the user has voted is in no event but that of the vote.
      const isUnsure = before === undefined && verb !== 'created' && (written.options?.count ?? 0) > 0
      return isUnsure ? 'unknown' : toItem(written, before)
    },
  }
}

/** One reaction of each user counts. */
function react(item: Item, actor: ActorRef, reaction: Reaction | null): Item | 'unknown' {
  const { data = [] } = (item as Content).reactions ?? {}
  if (data.length >= reactionsShown) return 'unknown'
  return { ...item, reactions: toReactions(data, actor.id, reaction) } as Item
}

export function toReactions(data: readonly Reaction[], user: number, reaction: Reaction | null) {
  const others = data.filter(({ created_by }) => created_by.id !== user)
  const all = reaction === null ? others : [...others, reaction]
  return { data: all, start: 0, end: all.length, count: all.length }
}

function count(item: Item, { id, votes }: EventOption, hasVoted: boolean | undefined): Item {
  return withOptions(item, option =>
    option.id === id ? { ...option, votes, has_voted: hasVoted ?? option.has_voted } : option,
  )
}

function comment(item: Item, comments: { count: number } | undefined): Item | 'unknown' {
  return comments === undefined ? 'unknown' : ({ ...item, comments } as Item)
}

export function optionsOf(item: Item): readonly Option[] {
  return (item as Content).options?.data ?? []
}

export function withOptions(item: Item, change: (option: Option) => Option): Item {
  const { options } = item as Content
  return options?.data === undefined
    ? item
    : ({ ...item, options: { ...options, data: options.data.map(change) } } as Item)
}
