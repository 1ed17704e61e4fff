import { isChat } from '../apps/kinds.ts'
import { contentCommands } from '../content/commands.ts'
import { contentKind } from '../content/kind.ts'

/** Messages: what chats are made of. They alone are read and unread. */
export const message = contentKind({ entity: 'message', table: 'messages', fits: isChat, isMarked: true })

export const messageCommands = contentCommands(message)
