import type { triggers as serverTriggers } from '../../resources/webhooks/schema.ts'

/** What webhooks can be told about. The compiler holds it to what the server has. */
export const triggers = toAll<(typeof serverTriggers)[number]>()({
  agents: 1,
  apps: 1,
  audit: 1,
  comments: 1,
  files: 1,
  messages: 1,
  notifications: 1,
  polls: 1,
  posts: 1,
  reactions: 1,
})

/** The keys of an object that has to have exactly those of a union. */
function toAll<Name extends string>() {
  return (names: Record<Name, 1>) => Object.keys(names) as Name[]
}
