import { contentCommands } from '../content/commands.ts'
import { contentKind } from '../content/kind.ts'
import { fileParent } from '../files/parent.ts'
import { post } from '../posts/kind.ts'

/** Comments: on posts and files, or by themselves in an app for comments. */
export const comment = contentKind({
  entity: 'comment',
  table: 'comments',
  fits: type => type === 'comments',
  parents: { post: post.store, file: fileParent },
})

export const commentCommands = contentCommands(comment)
