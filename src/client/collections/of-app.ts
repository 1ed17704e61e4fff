import type { Client } from '../client.ts'
import type { OptionsOf } from '../http/api.ts'
import type { Content, StoredFile } from '../store/fold.ts'
import type { Row } from '../store/project.ts'
import type { Collection } from '../store/collection.ts'
import { ItemCollection } from './item-collection.ts'

/** What a message, post or comment is made of. */
export type ContentDraft = NonNullable<OptionsOf<'/api/apps/{app}/messages', 'post'>['body']>

/** What a file is made of: an uploaded blob. */
export type FileDraft = OptionsOf<'/api/apps/{app}/files', 'post'>['body']

export type Message = Row<Content>
export type Post = Row<Content>
export type Comment = Row<Content>
export type File = Row<StoredFile>

export type Messages = ItemCollection<Content, ContentDraft>
export type Posts = ItemCollection<Content, ContentDraft>
export type Comments = ItemCollection<Content, ContentDraft>
export type Files = ItemCollection<StoredFile, FileDraft>
export type { Collection }

const pathOf = (app: string) => `/api/apps/${encodeURIComponent(app)}`

/** The messages of a chat, live. */
export function messagesOf(client: Client, app: string | number): Messages {
  const ref = String(app)
  return new ItemCollection(client, client.feeds.of(ref), { type: 'message', path: `${pathOf(ref)}/messages` })
}

/** The posts of a feed, live. */
export function postsOf(client: Client, app: string | number): Posts {
  const ref = String(app)
  return new ItemCollection(client, client.feeds.of(ref), { type: 'post', path: `${pathOf(ref)}/posts` })
}

/** The files of a files app, live. */
export function filesOf(client: Client, app: string | number): Files {
  const ref = String(app)
  return new ItemCollection(client, client.feeds.of(ref), { type: 'file', path: `${pathOf(ref)}/files` })
}

/** The comments on a post or file of an app, or of an app of comments, live. */
export function commentsOf(
  client: Client,
  app: string | number,
  parent?: { type: 'post' | 'file'; id: number },
): Comments {
  const ref = String(app)
  const path = parent === undefined ? `${pathOf(ref)}/comments` : `/api/${parent.type}s/${parent.id}/comments`
  return new ItemCollection(client, client.feeds.of(ref), { type: 'comment', path, ...(parent && { parent }) })
}
