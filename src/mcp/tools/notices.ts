import { z } from 'zod'
import { ignoreNotFound } from '../../lib/errors.ts'
import type { ClientCall } from '../client-call.ts'
import { cite, type Listed } from './said.ts'
import { Limit, Note, note, reading, writing } from './tool.ts'

interface Shown {
  id: number
  type: string
  plain: string
  actor: { name: string }
  link?: { id: number; type: string; app?: { id: number } }
  created_at: string
  is_unread: boolean
}

const listNotifications = reading({
  name: 'list_notifications',
  description: 'What the user was told of: mentions, reactions and activity, newest first.',
  input: z.object({ unread: z.boolean().optional(), skip: z.int().min(0).optional(), limit: Limit(100, 25) }),
  output: z.object({
    note: Note,
    notifications: z.array(
      z.object({
        id: z.int(),
        type: z.string(),
        author: z.string(),
        at: z.string(),
        text: z.string(),
        is_unread: z.boolean(),
        cite: z.string().optional(),
      }),
    ),
    count: z.int(),
  }),
  async run({ unread, skip, limit }, call) {
    const query = { unread, skip, take: limit }
    const { data = [], count } = await call.get<Listed<Shown>>('/api/notifications', query)
    const closed = await listClosed(
      data.flatMap(({ link }) => link?.app?.id ?? []),
      call,
    )
    const open = data.filter(({ link }) => link?.app === undefined || !closed.has(link.app.id))
    return { note, notifications: open.map(toNotice), count }
  },
})

function toNotice({ id, type, plain, actor, link, created_at, is_unread }: Shown) {
  const source = link?.app && { cite: cite(link.app.id, link.type, link.id) }
  return { id, type, author: actor.name, at: created_at, text: plain, is_unread, ...source }
}

/** The apps among some that are closed to clients. */
async function listClosed(apps: number[], call: ClientCall): Promise<Set<number>> {
  const closed = new Set<number>()
  for (const app of new Set(apps)) {
    try {
      await call.app(app)
    } catch (error) {
      ignoreNotFound(error)
      closed.add(app)
    }
  }
  return closed
}

const markNotifications = writing({
  name: 'mark_notifications',
  description: 'Mark notifications of the user as read: up to one of them, or all.',
  input: z.object({ up_to: z.int().optional().describe('Id of a notification') }),
  output: z.object({ unread: z.int() }),
  async run({ up_to }, call) {
    await call.put('/api/notifications/mark', { id: up_to })
    const { count } = await call.get<Listed<unknown>>('/api/notifications', { unread: true, count_only: true })
    return { unread: count }
  },
})

export const noticeTools = [listNotifications, markNotifications]
