import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { z } from 'zod'
import { StartFault } from '../../../lib/errors.ts'
import { formatVersion, type DraftLine } from '../format.ts'
import { attach, Threads, toUid } from './conversation.ts'
import { emojiOf } from './emoji.ts'
import { toMarkdown } from './mrkdwn.ts'

const Profile = z.object({
  real_name: z.string().optional(),
  display_name: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  title: z.string().optional(),
})
const User = z.object({
  id: z.string(),
  team_id: z.string().optional(),
  name: z.string().optional(),
  real_name: z.string().optional(),
  deleted: z.boolean().optional(),
  updated: z.number().optional(),
  profile: Profile.default({}),
})
const Conversation = z.object({
  id: z.string(),
  name: z.string().optional(),
  created: z.number(),
  creator: z.string().optional(),
  members: z.array(z.string()).default([]),
  topic: z.object({ value: z.string() }).optional(),
  purpose: z.object({ value: z.string() }).optional(),
})
type Conversation = z.output<typeof Conversation>
const Message = z.object({
  subtype: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  username: z.string().optional(),
  user_profile: Profile.optional(),
  text: z.string().default(''),
  ts: z.string(),
  thread_ts: z.string().optional(),
  edited: z.object({ user: z.string(), ts: z.string() }).optional(),
  reactions: z.array(z.object({ name: z.string(), users: z.array(z.string()) })).default([]),
  files: z
    .array(
      z.object({
        name: z.string().nullish(),
        title: z.string().nullish(),
        mimetype: z.string().optional(),
        size: z.number().optional(),
        permalink: z.string().optional(),
        url_private: z.string().optional(),
      }),
    )
    .default([]),
})
type Message = z.output<typeof Message>

/** Messages that people or programs wrote; others say who joined, what the topic is, and the like. */
const written = new Set(['bot_message', 'me_message', 'thread_broadcast', 'file_share', 'file_comment'])

/** The lists of an export, and what their conversations become. */
const lists = {
  'channels.json': 'chat',
  'groups.json': 'chat_room',
  'mpims.json': 'chat_room',
  'dms.json': 'private_chat',
} as const

/** Reads an export of Slack: a folder, or a zip file. */
export function* convertSlack(path: string): Generator<DraftLine> {
  const files = openFiles(path)
  const listed = files.read('users.json') ?? files.read('org_users.json')
  if (listed === null) throw new StartFault(`${path} is no export of Slack: there is no users.json in it.`)
  const users = z.array(User).parse(listed)
  yield { type: 'header', format: 'parley', version: formatVersion, source: `slack ${users[0]?.team_id ?? ''}`.trim() }
  const names = new Map<string, string>()
  for (const { id, name, real_name, deleted = false, updated = 0, profile } of users) {
    names.set(id, profile.real_name || real_name || name || id)
    const trashed_at = deleted ? toTime(updated) : undefined
    const person = { name: names.get(id), nickname: profile.display_name?.slice(0, 32), comment: profile.title }
    yield {
      type: 'user',
      id,
      uid: toUid(id),
      ...person,
      email: profile.email,
      phone_number: profile.phone?.slice(0, 32),
      trashed_at,
    }
  }
  for (const [list, kind] of Object.entries(lists)) {
    for (const conversation of z.array(Conversation).parse(files.read(list) ?? []))
      yield* convertConversation(files, conversation, kind, names)
  }
}

function* convertConversation(
  files: Files,
  conversation: Conversation,
  kind: (typeof lists)[keyof typeof lists],
  names: Map<string, string>,
): Generator<DraftLine> {
  const { id: app, name, created, creator, topic, purpose } = conversation
  const people = new Set(conversation.members)
  yield* addPeople([...people, creator], names)
  yield {
    ...{ type: 'app', id: app, uid: app, kind, access: kind === 'chat' ? 'write' : 'none' },
    ...(kind === 'private_chat'
      ? { pair: toPair([...people]) }
      : { name, description: purpose?.value || topic?.value }),
    created_at: toTime(created),
    created_by: creator ?? 'system',
  }
  const threads = new Threads()
  let newest: string | undefined
  for (const messages of files.days(kind === 'private_chat' ? app : (name ?? app))) {
    const day = z
      .array(Message)
      .parse(messages)
      .filter(({ subtype }) => subtype === undefined || written.has(subtype))
    for (const message of day.toSorted((a, b) => Number(a.ts) - Number(b.ts))) {
      newest = `${app}:${message.ts}`
      yield* convertMessage(message, app, threads, names)
    }
  }
  for (const user of people)
    yield { type: 'member', app, user, access: user === creator ? 'admin' : 'write', marked: newest }
}

function* convertMessage(
  message: Message,
  app: string,
  threads: Threads,
  names: Map<string, string>,
): Generator<DraftLine> {
  const { ts, thread_ts = ts, edited, reactions, user_profile: profile } = message
  const author = message.user ?? message.bot_id ?? 'system'
  yield* addPeople([author, edited?.user, ...reactions.flatMap(({ users }) => users)], names, {
    [author]: profile?.real_name ?? message.username ?? author,
  })
  const text = toMarkdown(message.text, user => names.get(user) ?? user)
  if (thread_ts === ts) threads.add(ts, { by: names.get(author) ?? author, text })
  const id = `${app}:${ts}`
  const made = { created_at: toTime(ts), created_by: author }
  yield {
    ...{ type: 'message', id, app, text: threads.quote(thread_ts === ts ? null : thread_ts, text), ...made },
    ...(edited && { updated_at: toTime(edited.ts), updated_by: edited.user }),
  }
  const links = message.files.flatMap(
    ({ name, title, mimetype: mediaType = 'application/octet-stream', size = 0, ...file }) => {
      const link = file.permalink ?? file.url_private
      return link === undefined ? [] : [{ name: title || name || 'file', mediaType, size, provider: 'slack', link }]
    },
  )
  yield* attach({ id, app, ...made }, links)
  for (const { name, users } of reactions) {
    const content = emojiOf(name)
    if (content === null) continue
    for (const user of users) yield { type: 'reaction', item: id, user, content, created_at: made.created_at }
  }
}

/** The lines of users who are in no list, such as programs and guests of other workspaces. */
function* addPeople(
  ids: readonly (string | undefined)[],
  names: Map<string, string>,
  known: Record<string, string> = {},
): Generator<DraftLine> {
  for (const id of ids) {
    if (id === undefined || id === 'system' || names.has(id)) continue
    names.set(id, known[id] ?? id)
    yield { type: 'user', id, uid: toUid(id), name: names.get(id) }
  }
}

function toPair([first = '', second = first]: string[]): [string, string] {
  return [first, second]
}

function toTime(seconds: number | string): string {
  return new Date(Math.floor(Number(seconds) * 1000)).toISOString()
}

interface Files {
  /** The JSON of a file; null where there is none. */
  read(name: string): unknown
  /** That of each day of a conversation, in their order. */
  days(folder: string): Iterable<unknown>
}

function openFiles(path: string): Files {
  if (!statSync(path).isDirectory()) return openZip(path)
  const read = (name: string) => JSON.parse(readFileSync(join(path, name), 'utf8')) as unknown
  return {
    read: name => (statSync(join(path, name), { throwIfNoEntry: false }) === undefined ? null : read(name)),
    *days(folder) {
      for (const name of globSync('*.json', { cwd: join(path, folder) }).toSorted()) yield read(join(folder, name))
    },
  }
}

/** Of a zip file, the packed bytes are in memory, and one conversation at a time. */
function openZip(path: string): Files {
  const packed = readFileSync(path)
  const unzip = (isWanted: (name: string) => boolean) => {
    const found = Object.entries(unzipSync(packed, { filter: ({ name }) => isWanted(name) }))
    return found
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, bytes]) => JSON.parse(Buffer.from(bytes).toString()) as unknown)
  }
  return {
    read: name => unzip(each => each === name)[0] ?? null,
    days: folder => unzip(each => each.startsWith(`${folder}/`) && each.endsWith('.json')),
  }
}
