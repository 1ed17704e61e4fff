import { contentCommands } from '../items/writing/commands.ts'
import { itemKinds } from '../items/kinds.ts'

export const { post } = itemKinds

export const postCommands = contentCommands(post)
