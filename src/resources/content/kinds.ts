import { isChat } from '../apps/kinds.ts'
import { fileParent } from './file-parent.ts'
import { contentKind, type ContentEntity, type ContentKind } from './kind.ts'

/** Messages, the content of chats. Only messages are read and unread. */
const message = contentKind({ entity: 'message', table: 'messages', fits: isChat, isMarked: true })

/** Posts, the content of feeds. */
const post = contentKind({
  entity: 'post',
  table: 'posts',
  fits: type => type === 'posts',
  defaultOrder: 'id desc',
  isCommented: true,
})

/** Comments, on posts and files, or directly in an app for comments. */
const comment = contentKind({
  entity: 'comment',
  table: 'comments',
  fits: type => type === 'comments',
  parents: { post: post.store, file: fileParent },
})

/** All kinds of content. */
export const kinds: Record<ContentEntity, ContentKind> = { message, post, comment }
