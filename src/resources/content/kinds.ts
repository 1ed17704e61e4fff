import { isChat } from '../apps/kinds.ts'
import { fileParent } from './file-parent.ts'
import { contentKind, type ContentEntity, type ContentKind } from './kind.ts'

/** Messages: what chats are made of. They alone are read and unread. */
const message = contentKind({ entity: 'message', table: 'messages', fits: isChat, isMarked: true })

/** Posts: what feeds are made of. */
const post = contentKind({
  entity: 'post',
  table: 'posts',
  fits: type => type === 'posts',
  defaultOrder: 'id desc',
  isCommented: true,
})

/** Comments: on posts and files, or by themselves in an app for comments. */
const comment = contentKind({
  entity: 'comment',
  table: 'comments',
  fits: type => type === 'comments',
  parents: { post: post.store, file: fileParent },
})

/** All kinds of content: for what can be done with any of them. */
export const kinds: Record<ContentEntity, ContentKind> = { message, post, comment }
