import { contentCommands } from '../items/writing/commands.ts'
import { itemKinds } from '../items/kinds.ts'

export const { message } = itemKinds

export const messageCommands = contentCommands(message)
