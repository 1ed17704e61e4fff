import { z } from 'zod'
import { pause } from '../../lib/clock.ts'
import { requireOpen, type ClientCall, type ShownApp } from '../client-call.ts'
import { findAgentChat } from './rooms.ts'
import { cite, Said, toSaid, type Listed, type ShownItem } from './said.ts'
import { Note, note, Ref, writing } from './tool.ts'

const Made = z.object({ id: z.int(), app: z.int(), at: z.string(), cite: z.string() })

const Text = z.string().min(1).describe('Markdown; [Name](@uid) mentions')
const Poll = z.array(z.string()).min(2).max(50).optional().describe('Options of a poll')

type Entity = 'message' | 'post' | 'comment'

function toMade(type: Entity, { id, app, created_at }: ShownItem) {
  return { id, app: app.id, at: created_at, cite: cite(app.id, type, id) }
}

const toBody = (text: string, poll?: string[]) => ({ text, ...(poll && { options: poll.map(one => ({ text: one })) }) })

const sendMessage = writing({
  name: 'send_message',
  description: 'Send a message to a chat, as the user.',
  input: z.object({ app: Ref, text: Text, poll: Poll }),
  output: Made,
  isIdempotent: false,
  async run({ app, text, poll }, call) {
    const { id } = await call.app(app)
    return toMade('message', await call.post<ShownItem>(`/api/apps/${id}/messages`, toBody(text, poll)))
  },
})

const writePost = writing({
  name: 'write_post',
  description: 'Write a post in a feed (an app of kind posts), as the user.',
  input: z.object({ app: Ref, text: Text, poll: Poll }),
  output: Made,
  isIdempotent: false,
  async run({ app, text, poll }, call) {
    const { id } = await call.app(app)
    return toMade('post', await call.post<ShownItem>(`/api/apps/${id}/posts`, toBody(text, poll)))
  },
})

const writeComment = writing({
  name: 'write_comment',
  description: 'Comment on a post or file, or in an app of kind comments, as the user.',
  input: z.object({ on: z.enum(['post', 'file', 'app']), id: Ref, text: Text }),
  output: Made,
  isIdempotent: false,
  async run({ on, id, text }, call) {
    const path = on === 'app' ? `/api/apps/${(await call.app(id)).id}` : `/api/${on}s/${encodeURIComponent(id)}`
    if (on !== 'app') requireOpen((await call.get<{ app: ShownApp }>(path)).app)
    return toMade('comment', await call.post<ShownItem>(`${path}/comments`, toBody(text)))
  },
})

const Item = { type: z.enum(['message', 'post', 'comment']), id: z.int() }

async function openItem(type: Entity, id: number, call: ClientCall): Promise<ShownItem> {
  const item = await call.get<ShownItem>(`/api/${type}s/${id}`)
  requireOpen(item.app)
  return item
}

const react = writing({
  name: 'react',
  description: 'React to an item with an emoji, in place of the reaction that the user had; without one, take it back.',
  input: z.object({ ...Item, emoji: z.string().optional() }),
  output: z.object({ cite: z.string() }),
  async run({ type, id, emoji }, call) {
    const { app } = await openItem(type, id, call)
    const path = `/api/${type}s/${id}/reactions`
    await (emoji === undefined ? call.delete(path) : call.post(path, { content: emoji }))
    return { cite: cite(app.id, type, id) }
  },
})

const vote = writing({
  name: 'vote',
  description: 'Vote for an option of a poll, by its id, as read_conversation shows it.',
  input: z.object({ ...Item, option: z.int() }),
  output: z.object({ options: Said.shape.options }),
  async run({ type, id, option }, call) {
    const before = await openItem(type, id, call)
    const own = (before.options?.data as { id: number; has_voted: boolean }[] | undefined)?.find(
      one => one.id === option,
    )
    // A second vote for an option would take the first one back.
    if (own?.has_voted !== true) await call.post(`/api/options/${option}/vote`)
    const { options } = toSaid(type, await openItem(type, id, call))
    return { options }
  },
})

const markRead = writing({
  name: 'mark_read',
  description: 'Mark an app as read for the user: up to a message, or all of it.',
  input: z.object({ app: Ref, message: z.int().optional() }),
  output: z.object({ cite: z.string() }),
  async run({ app, message }, call) {
    const { id } = await call.app(app)
    await call.put(`/api/apps/${id}/mark`, { message_id: message })
    return { cite: cite(id, 'app', id) }
  },
})

/** How long an answer is waited for, which clients give some more time, and how often it is looked for. */
const answerMs = 45_000
const lookMs = 400

const askAgent = writing({
  name: 'ask_agent',
  description: "Ask an AI agent of this workspace in the user's own chat with it, and wait for the answer.",
  input: z.object({ agent: Ref, text: Text }),
  output: z.object({
    note: Note,
    app: z.int(),
    is_answered: z.boolean(),
    answers: z.array(Said.pick({ id: true, text: true, cite: true })),
  }),
  isIdempotent: false,
  async run({ agent, text }, call, { clock, signal }) {
    const { id: app } = await findAgentChat(agent, call)
    const asked = await call.post<ShownItem>(`/api/apps/${app}/messages`, { text })
    for (const until = clock.now() + answerMs; clock.now() < until; await pause(clock, lookMs, signal)) {
      const open = await call.get<Listed<unknown>>(`/api/apps/${app}/runs`, { count_only: true })
      const query = { order_by: 'id desc', take: 10 }
      const { data = [] } = await call.get<Listed<ShownItem>>(`/api/apps/${app}/messages`, query)
      const answers = data.filter(item => item.id > asked.id && item.created_by.id !== call.by.user)
      if (open.count === 0 && answers.length > 0)
        return { note, app, is_answered: true, answers: answers.map(item => toSaid('message', item)).toReversed() }
    }
    return { note, app, is_answered: false, answers: [] }
  },
})

export const writingTools = [sendMessage, writePost, writeComment, react, vote, markRead, askAgent]
