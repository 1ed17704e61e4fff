import type { ContentEntity, ContentKind } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { contentEvents } from './events.ts'

/** A kind of content with the events of its items, which contain the whole item. */
export interface ItemKind extends ContentKind {
  events: ReturnType<typeof contentEvents>
}

const withEvents = (kind: ContentKind): ItemKind => ({ ...kind, events: contentEvents(kind) })

export const itemKinds: Record<ContentEntity, ItemKind> = {
  message: withEvents(kinds.message),
  post: withEvents(kinds.post),
  comment: withEvents(kinds.comment),
}
