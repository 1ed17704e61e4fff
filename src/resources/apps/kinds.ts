/** The app types: a response names them by guid, a request by name or guid, the database by name. */
export const guids = {
  agent_chat: '2352a1c6-abc6-420e-8b85-ca7d5aed8779',
  chat: 'd65dd4bc-418e-403c-9f56-f9cf4da931ed',
  chat_room: 'edb400ac-839b-45a7-b2a8-6a01820d1c44',
  comments: '88f96a08-c6c1-4eac-a0bd-5bf8fba1a3fd',
  files: '523edd88-4bbf-4547-b60f-2859a6d2ddc1',
  posts: '5ebfa152-de85-48da-82dd-30a1b560c313',
  private_chat: '7e14f418-8f15-46f4-b182-f619b671e470',
} as const

export type Kind = keyof typeof guids

const byName = new Map<string, Kind>(
  Object.entries(guids).flatMap(([kind, guid]) => [
    [kind, kind as Kind],
    [guid, kind as Kind],
  ]),
)

/** The kind for a name or guid in any case; undefined for anything else. */
export function toKind(text: string): Kind | undefined {
  return byName.get(text.toLowerCase())
}

const chats = new Set<string>(['agent_chat', 'chat', 'chat_room', 'private_chat'])

/** Apps that hold messages. */
export function isChat(type: string): boolean {
  return chats.has(type)
}

const closed = new Set<string>(['agent_chat', 'chat_room', 'private_chat'])

/** Conversations between their members alone: `access` stays `none`, there is no directory, nobody else gets in. */
export function isConversation(type: string): boolean {
  return closed.has(type)
}

/** Conversations that are what they are by who takes part: nobody comes or goes. */
export function hasFixedMembers(type: string): boolean {
  return type === 'agent_chat' || type === 'private_chat'
}

/** Conversations that each member may remove from their own lists, where the next message brings them back. */
export const isRemovable = hasFixedMembers
