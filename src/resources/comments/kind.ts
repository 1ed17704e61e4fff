import { contentCommands } from '../items/writing/commands.ts'
import { itemKinds } from '../items/kinds.ts'

export const { comment } = itemKinds

export const commentCommands = contentCommands(comment)
