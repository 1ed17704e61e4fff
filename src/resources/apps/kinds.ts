/** The app types: responses name them by guid, requests by name or guid, the database by name. */
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

/** The names of the app types. */
export const kinds = Object.keys(guids) as [Kind, ...Kind[]]

/** The type of an app as answers and events show it: its guid, and its name beside it. */
export function showType(type: string): { type: string; kind: Kind } {
  // Apps are made with the names of these types alone.
  const kind = type as Kind
  return { type: guids[kind], kind }
}

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

/** True for conversations between their members alone: `access` stays `none`, and there is no directory. */
export function isConversation(type: string): boolean {
  return closed.has(type)
}

/** True for conversations whose members never change. */
export function hasFixedMembers(type: string): boolean {
  return type === 'agent_chat' || type === 'private_chat'
}

/** True for conversations that each member may remove from the own lists until the next message. */
export function isRemovable({ type }: { type: string }): boolean {
  return hasFixedMembers(type)
}
