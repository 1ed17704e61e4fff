import { isChat } from '../apps/kinds.ts'
import { fileParent } from './file-parent.ts'
import type { ContentEntity, ContentKind } from './kind.ts'
import { contentStore } from './store.ts'

/** Messages, the content of chats. Only messages are read and unread. */
const message: ContentKind = {
  entity: 'message',
  store: contentStore('messages'),
  fits: isChat,
  defaultOrder: 'id',
  isMarked: true,
  isCommented: false,
  parents: {},
}

/** Posts, the content of feeds. */
const post: ContentKind = {
  entity: 'post',
  store: contentStore('posts'),
  fits: type => type === 'posts',
  defaultOrder: 'id desc',
  isMarked: false,
  isCommented: true,
  parents: {},
}

/** Comments, on posts and files, or directly in an app for comments. */
const comment: ContentKind = {
  entity: 'comment',
  store: contentStore('comments'),
  fits: type => type === 'comments',
  defaultOrder: 'id',
  isMarked: false,
  isCommented: false,
  parents: { post: post.store, file: fileParent },
}

/** All kinds of content. */
export const kinds: Record<ContentEntity, ContentKind> = { message, post, comment }
