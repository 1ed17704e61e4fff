import { contentCommands } from '../content/commands.ts'
import { contentKind } from '../content/kind.ts'
import { post } from '../posts/kind.ts'

/** Comments: on posts and files, or by themselves in an app for comments. */
export const comment = contentKind({
  entity: 'comment',
  table: 'comments',
  fits: type => type === 'comments',
  parents: { post: post.store },
})

export const commentCommands = contentCommands(comment)
