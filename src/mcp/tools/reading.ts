import { z } from 'zod'
import { NotFound } from '../../lib/errors.ts'
import { isOpen, requireOpen, type ClientCall, type ShownApp } from '../client-call.ts'
import { Brief, cite, Said, toSaid, type Listed, type ShownItem } from './said.ts'
import { Limit, Note, note, reading, Ref, type ToolParts } from './tool.ts'

interface Hit {
  type: string
  id: number
  name?: string
  snippet: { text: string }
  app?: ShownApp
  created_by?: { id: number; name: string }
  created_at?: string
}

const search = reading({
  name: 'search',
  description: 'Find messages, posts, comments, files, people and apps. Words are beginnings; phrases go in quotes.',
  input: z.object({
    q: z.string(),
    in: z.array(z.enum(['messages', 'posts', 'comments', 'files', 'people', 'apps'])).optional(),
    app: Ref.optional(),
    by: Ref.optional(),
    from: z.string().optional().describe('ISO time'),
    to: z.string().optional(),
    has: z.array(z.enum(['file', 'link', 'poll'])).optional(),
    order: z.enum(['relevance', 'newest']).optional(),
    limit: Limit(100, 20),
    cursor: z.string().optional(),
  }),
  output: z.object({
    note: Note,
    hits: z.array(
      z.object({
        type: z.string(),
        id: z.int(),
        name: z.string().optional(),
        author: z.string().optional(),
        at: z.string().optional(),
        text: z.string(),
        app: z.int().optional(),
        app_name: z.string().optional(),
        cite: z.string().optional(),
      }),
    ),
    cursor: z.string().optional(),
  }),
  async run({ limit, ...question }, call) {
    const query = { ...question, app: question.app?.toString(), by: question.by?.toString(), take: limit }
    const { data = [], cursor } = await call.get<{ data?: Hit[]; cursor?: string }>('/api/search', query)
    const hits = data.filter(({ app }) => app === undefined || isOpen(app))
    return { note, hits: hits.map(toHit), ...(cursor !== undefined && { cursor }) }
  },
})

function toHit({ type, id, name, snippet, app, created_by, created_at }: Hit) {
  return {
    type,
    id,
    ...(name !== undefined && { name }),
    ...(created_by && type !== 'user' && { author: created_by.name }),
    ...(created_at !== undefined && { at: created_at }),
    text: snippet.text,
    ...(app && { app: app.id, cite: cite(app.id, type, id), ...(app.name !== undefined && { app_name: app.name }) }),
  }
}

/** The lists of what is made directly in apps, by their kinds. */
const lists: Record<string, 'message' | 'post' | 'comment' | undefined> = {
  chat: 'message',
  chat_room: 'message',
  private_chat: 'message',
  agent_chat: 'message',
  posts: 'post',
  comments: 'comment',
}

const readConversation = reading({
  name: 'read_conversation',
  description:
    'Read what was written in an app, or the comments on a post or file: the newest, or those around an item. Oldest first.',
  input: z.object({
    app: Ref.optional(),
    post: z.int().optional(),
    file: z.int().optional(),
    around: z.int().optional().describe('Id of an item'),
    skip: z.int().min(0).optional().describe('Newer ones to pass over'),
    limit: Limit(100, 30),
  }),
  output: z.object({
    note: Note,
    app: z.int(),
    app_name: z.string().optional(),
    items: z.array(Said),
    count: z.int(),
  }),
  async run({ app: ref, post, file, around, skip, limit }, call) {
    const query = { order_by: 'id desc', take: limit, skip, around }
    const { app, type, path } = await find({ ref, post, file }, call)
    const { data = [], count } = await call.get<Listed<ShownItem>>(path, query)
    const items = data.map(item => toSaid(type, item)).toReversed()
    return { note, app: app.id, ...(app.name !== undefined && { app_name: app.name }), items, count }
  },
})

interface Place {
  ref: string | number | undefined
  post: number | undefined
  file: number | undefined
}

async function find({ ref, post, file }: Place, call: ClientCall) {
  const parent = post !== undefined ? `/api/posts/${post}` : file !== undefined ? `/api/files/${file}` : null
  if (parent !== null) {
    const { app } = await call.get<{ app: ShownApp }>(parent)
    return { app: requireOpen(app), type: 'comment' as const, path: `${parent}/comments` }
  }
  if (ref === undefined) throw NotFound()
  const app = await call.app(ref)
  const type = lists[app.kind]
  if (type === undefined) throw NotFound()
  return { app, type, path: `/api/apps/${app.id}/${type}s` }
}

/** Messages in one answer of the API, and apps in which something is unread. */
const page = 100
const mostApps = 100

const catchUp = reading({
  name: 'catch_up',
  description:
    'What the user has not read, by app, with who wrote what and a citation for each. Marks nothing as read.',
  input: z.object({ app: Ref.optional(), limit: Limit(500, 200) }),
  output: z.object({
    note: Note,
    unread: z.array(
      z.object({
        app: z.int(),
        app_name: z.string().optional(),
        cite: z.string(),
        has_older: z.boolean(),
        items: z.array(Brief),
      }),
    ),
    notifications: z.int().describe('Unread ones'),
  }),
  async run({ app: ref, limit }, call, parts) {
    const apps = ref === undefined ? await listUnreadApps(call) : [await call.app(ref)]
    const unread = []
    let left = limit
    for (const app of apps.filter(isOpen)) {
      if (left <= 0) break
      const { items, hasOlder } = await listUnread(app, left, call, parts)
      left -= items.length
      const name = app.name !== undefined && { app_name: app.name }
      if (items.length > 0)
        unread.push({ app: app.id, ...name, cite: cite(app.id, 'app', app.id), has_older: hasOlder, items })
    }
    const { count } = await call.get<Listed<unknown>>('/api/notifications', { unread: true, count_only: true })
    return { note, unread, notifications: count }
  },
})

async function listUnreadApps(call: ClientCall): Promise<ShownApp[]> {
  const query = { unread: true, order_by: 'rev desc', take: mostApps, out: 'summary' }
  return (await call.get<Listed<ShownApp>>('/api/apps', query)).data ?? []
}

/** The newest messages by others after the user's read marker, oldest first. */
async function listUnread({ id }: ShownApp, limit: number, call: ClientCall, { apps }: ToolParts) {
  const own = (await apps.state(id)).member(call.by.user)
  const marked = Math.max(own?.marked_id ?? 0, own?.hidden_id ?? 0)
  const items: Said[] = []
  for (let skip = 0; ; skip += page) {
    const { data = [] } = await call.get<Listed<ShownItem>>(`/api/apps/${id}/messages`, {
      ...{ order_by: 'id desc', skip, take: page },
    })
    const newer = data.filter(item => item.id > marked)
    for (const item of newer) {
      if (item.created_by.id === call.by.user) continue
      if (items.length === limit) return { items: items.toReversed(), hasOlder: true }
      items.push(toSaid('message', item))
    }
    if (newer.length < page) return { items: items.toReversed(), hasOlder: false }
  }
}

export const readingTools = [search, readConversation, catchUp]
