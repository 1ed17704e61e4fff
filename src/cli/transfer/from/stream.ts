import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { StartFault } from '../../../lib/errors.ts'
import { escapeLabel } from '../../../resources/content/text/mention-syntax.ts'
import { formatVersion, type DraftLine } from '../format.ts'
import { attach, Threads, toUid } from './conversation.ts'
import { emojiOf } from './emoji.ts'

/** Where Stream writes a user whole, only the id is taken; the users have lines of their own, or are made of it. */
const Person = z.union([
  z.string().transform(id => ({ id, name: undefined })),
  z.looseObject({ id: z.string(), name: z.string().optional() }),
])
const time = z.string().nullish()

const User = z.looseObject({
  id: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  created_at: time,
  deleted_at: time,
  deactivated_at: time,
})
/** How entities name their channel. A channel of fixed members may be named by these instead of an id. */
const place = {
  cid: z.string().optional(),
  channel_type: z.string().optional(),
  channel_id: z.string().optional(),
  channel_member_ids: z.array(z.string()).optional(),
}
const Channel = z.looseObject({
  id: z.string().nullish(),
  type: z.string(),
  member_ids: z.array(z.string()).nullish(),
  name: z.string().nullish(),
  created_by: Person.nullish(),
  created_at: time,
})
const Member = z.looseObject({
  ...place,
  last_read: time,
  user_id: z.string().optional(),
  user: Person.nullish(),
  is_moderator: z.boolean().nullish(),
  channel_role: z.string().nullish(),
})
const Attachment = z.looseObject({
  title: z.string().nullish(),
  asset_url: z.string().nullish(),
  image_url: z.string().nullish(),
  mime_type: z.string().nullish(),
  file_size: z.number().nullish(),
})
const Reaction = z.looseObject({
  message_id: z.string().optional(),
  type: z.string(),
  user_id: z.string().optional(),
  user: Person.nullish(),
  created_at: time,
})
const Message = z.looseObject({
  ...place,
  id: z.string(),
  user: Person,
  text: z.string().nullish(),
  type: z.string().nullish(),
  parent_id: z.string().nullish(),
  quoted_message_id: z.string().nullish(),
  created_at: z.string(),
  updated_at: time,
  deleted_at: time,
  mentioned_users: z.array(Person).nullish(),
  mentioned_users_ids: z.array(Person).nullish(),
  attachments: z.array(Attachment).nullish(),
  latest_reactions: z.array(Reaction).nullish(),
})
type Message = z.output<typeof Message>

interface Stream {
  users: Map<string, z.output<typeof User>>
  channels: Map<string, z.output<typeof Channel>>
  members: Map<string, z.output<typeof Member>[]>
  messages: Map<string, Message[]>
  reactions: Map<string, z.output<typeof Reaction>[]>
}

/**
 * Reads an export of Stream Chat: of channels (`channel`, `messages` and `members` of each), or entities with their `type`
 * and `item`, as JSON or a line for each. It is read as a whole, because its messages have no order.
 */
export function* convertStream(path: string): Generator<DraftLine> {
  const stream: Stream = {
    users: new Map(),
    channels: new Map(),
    members: new Map(),
    messages: new Map(),
    reactions: new Map(),
  }
  for (const value of readValues(path)) collect(stream, value)
  if (stream.channels.size === 0) throw new StartFault(`${path} is no export of Stream: there are no channels in it.`)
  yield { type: 'header', format: 'parley', version: formatVersion, source: 'stream' }
  for (const { id, name, email, created_at, deleted_at, deactivated_at } of stream.users.values())
    yield { type: 'user', id, uid: toUid(id), name, email, created_at, trashed_at: deleted_at ?? deactivated_at }
  for (const cid of [...stream.members.keys(), ...stream.messages.keys()])
    if (!stream.channels.has(cid))
      throw new StartFault(`${path} has members or messages of the channel ${cid}, but not it.`)
  for (const [cid, { name, created_by, created_at }] of stream.channels) {
    const uid = cid.replace(':', '_')
    const author = created_by?.id
    yield { type: 'app', id: cid, kind: 'chat', uid, name, created_at, created_by: author ?? 'system' }
    const messages = (stream.messages.get(cid) ?? []).toSorted((a, b) =>
      toTime(a.created_at) < toTime(b.created_at) ? -1 : 1,
    )
    const threads = new Threads()
    for (const message of messages) yield* convertMessage(stream, cid, message, threads)
    for (const member of stream.members.get(cid) ?? []) {
      const read = member.last_read ? toTime(member.last_read) : null
      const marked = messages.findLast(({ created_at }) => read === null || toTime(created_at) <= read)?.id
      const user = member.user_id ?? member.user?.id
      const isAdmin = member.is_moderator === true || member.channel_role === 'channel_moderator' || user === author
      if (user !== undefined) yield { type: 'member', app: cid, user, access: isAdmin ? 'admin' : 'write', marked }
    }
  }
}

function* convertMessage(stream: Stream, app: string, message: Message, threads: Threads): Generator<DraftLine> {
  const { id, user, parent_id, quoted_message_id, updated_at, deleted_at } = message
  const by = stream.users.get(user.id)?.name ?? user.id
  let text = message.text ?? ''
  const mentioned = mentionedIn(message)
  for (const person of mentioned) {
    const name = stream.users.get(person.id)?.name ?? person.id
    text = text.replaceAll(`@${name}`, `[${escapeLabel(name)}](@${toUid(person.id)})`)
  }
  threads.add(id, { by, text })
  const made = { created_at: toTime(message.created_at), created_by: user.id }
  const isEdited = updated_at && toTime(updated_at) !== made.created_at
  yield {
    ...{ type: 'message', id, app, text: threads.quote(parent_id ?? quoted_message_id ?? null, text), ...made },
    mentions: mentioned.map(person => person.id),
    ...(isEdited && { updated_at, updated_by: user.id }),
    trashed_at: deleted_at ?? (message.type === 'deleted' ? made.created_at : null),
  }
  const files = (message.attachments ?? []).flatMap(({ title, asset_url, image_url, mime_type, file_size }) => {
    const link = asset_url ?? image_url
    const name = title || link?.split(/[?#]/, 1)[0]!.split('/').at(-1) || 'file'
    return link
      ? [{ name, mediaType: mime_type ?? 'application/octet-stream', size: file_size ?? 0, provider: 'stream', link }]
      : []
  })
  yield* attach({ id, app, ...made }, files)
  for (const { type, user_id, user: person, created_at } of stream.reactions.get(id) ?? []) {
    const [content, by] = [emojiOf(type), user_id ?? person?.id]
    if (content !== null && by !== undefined)
      yield { type: 'reaction', item: id, user: by, content, created_at: created_at ?? made.created_at }
  }
}

function collect(stream: Stream, value: unknown): void {
  const { type, item, data, channel, ...rest } = value as Record<string, unknown>
  if (channel !== undefined) return collectChannel(stream, channel, rest)
  const entity = item ?? data
  if (type === 'user' || type === 'users') addUser(stream, User.parse(entity))
  else if (type === 'channel') addChannel(stream, entity)
  else if (type === 'member') addMember(stream, Member.parse(entity))
  else if (type === 'message') addMessage(stream, Message.parse(entity))
  else if (type === 'reaction') addReaction(stream, Reaction.parse(entity))
}

function collectChannel(stream: Stream, channel: unknown, { messages, members }: Record<string, unknown>): void {
  const cid = addChannel(stream, channel)
  for (const member of z.array(Member).parse(members ?? [])) addMember(stream, { ...member, cid })
  for (const message of z.array(Message).parse(messages ?? [])) addMessage(stream, { ...message, cid })
}

function addUser({ users }: Stream, user: z.output<typeof User> | z.output<typeof Person> | null | undefined): void {
  if (user && (!users.has(user.id) || user.name)) users.set(user.id, User.parse({ ...users.get(user.id), ...user }))
}

function addChannel(stream: Stream, entity: unknown): string {
  const channel = Channel.parse(entity)
  const cid = `${channel.type}:${channel.id ?? toMembers(channel.member_ids)}`
  stream.channels.set(cid, channel)
  addUser(stream, channel.created_by)
  return cid
}

function cidOf({ cid, channel_type, channel_id, channel_member_ids }: z.output<z.ZodObject<typeof place>>): string {
  return cid ?? `${channel_type}:${channel_id ?? toMembers(channel_member_ids)}`
}

/** In place of the id of a channel: its members, in any order. */
function toMembers(users: readonly string[] | null | undefined): string {
  return `!members-${users?.toSorted().join('-')}`
}

function mentionedIn({ mentioned_users, mentioned_users_ids }: Message) {
  return mentioned_users ?? mentioned_users_ids ?? []
}

function addMember(stream: Stream, member: z.output<typeof Member>): void {
  addUser(stream, member.user)
  append(stream.members, cidOf(member), member)
}

function addMessage(stream: Stream, message: Message): void {
  for (const person of [message.user, ...mentionedIn(message)]) addUser(stream, person)
  append(stream.messages, cidOf(message), message)
  for (const reaction of message.latest_reactions ?? []) addReaction(stream, { ...reaction, message_id: message.id })
}

function addReaction(stream: Stream, reaction: z.output<typeof Reaction>): void {
  addUser(stream, reaction.user)
  append(stream.reactions, reaction.message_id ?? '', reaction)
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}

function toTime(text: string): string {
  return new Date(text).toISOString()
}

function readValues(path: string): unknown[] {
  const text = readFileSync(path, 'utf8').trim()
  const isLines = text.startsWith('{') && /^\{.*\}$/m.test(text.split('\n', 1)[0]!) && text.includes('\n')
  if (isLines)
    return text
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as unknown)
  const whole = JSON.parse(text) as unknown
  if (Array.isArray(whole)) return whole
  const { channels } = whole as { channels?: unknown[] }
  return channels ?? [whole]
}
