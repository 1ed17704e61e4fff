import { isChat, type Kind } from '../../../resources/apps/kinds.ts'

export type ContentKind = 'messages' | 'posts' | 'comments'

/** What an app of a type holds, by the names of the API. */
export function contentsOf(kind: Kind | undefined): (ContentKind | 'files')[] {
  if (kind === undefined) return []
  if (isChat(kind)) return ['messages']
  if (kind === 'posts') return ['posts', 'comments']
  return kind === 'files' ? ['files', 'comments'] : ['comments']
}
