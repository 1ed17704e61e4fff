import { contentCommands } from '../content/commands.ts'
import { contentKind } from '../content/kind.ts'

/** Posts: what feeds are made of. */
export const post = contentKind({
  entity: 'post',
  table: 'posts',
  fits: type => type === 'posts',
  defaultOrder: 'id desc',
  isCommented: true,
})

export const postCommands = contentCommands(post)
