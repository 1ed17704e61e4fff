import { z } from 'zod'
import { isOpen, type ClientCall, type ShownApp } from '../client-call.ts'
import { cite, type Listed } from './said.ts'
import { Limit, reading, Ref, writing } from './tool.ts'

const Room = z.object({
  id: z.int(),
  name: z.string().optional(),
  kind: z.string(),
  is_unread: z.boolean(),
  can_write: z.boolean(),
  cite: z.string(),
})

function toRoom({ id, name, kind, is_unread, permissions = [] }: ShownApp) {
  const can_write = permissions.includes('create')
  return { id, ...(name !== undefined && { name }), kind, is_unread, can_write, cite: cite(id, 'app', id) }
}

const listRooms = reading({
  name: 'list_rooms',
  description: 'List the apps that the user is in: chats, feeds (posts), comments and files.',
  input: z.object({
    q: z.string().optional().describe('Beginnings of words of the name'),
    unread: z.boolean().optional(),
    skip: z.int().min(0).optional(),
    limit: Limit(100, 50),
  }),
  output: z.object({ rooms: z.array(Room), count: z.int() }),
  async run({ q, unread, skip, limit }, call) {
    const query = { q, unread, skip, take: limit, order_by: 'rev desc', out: 'summary' }
    const { data = [], count } = await call.get<Listed<ShownApp>>('/api/apps', query)
    return { rooms: data.filter(isOpen).map(toRoom), count }
  },
})

interface ShownPerson {
  id: number
  uid?: string
  name: string
  is_agent?: boolean
  presence?: string
}

const listPeople = reading({
  name: 'list_people',
  description: 'Find people and agents whom the user sees, or list the members of an app.',
  input: z.object({
    q: z.string().optional().describe('Beginnings of names'),
    app: Ref.optional(),
    skip: z.int().min(0).optional(),
    limit: Limit(100, 25),
  }),
  output: z.object({
    people: z.array(
      z.object({
        id: z.int(),
        uid: z.string().optional(),
        name: z.string(),
        is_agent: z.boolean(),
        presence: z.string().optional(),
      }),
    ),
    count: z.int(),
  }),
  async run({ q, app, skip, limit }, call) {
    const path = app === undefined ? '/api/users' : `/api/apps/${(await call.app(app)).id}/members`
    const { data = [], count } = await call.get<Listed<ShownPerson>>(path, { q, skip, take: limit })
    const people = data.map(({ id, uid, name, is_agent = false, presence }) => ({
      ...{ id, name, is_agent },
      ...(uid !== undefined && { uid }),
      ...(presence !== undefined && { presence }),
    }))
    return { people, count }
  },
})

const makeRoom = writing({
  name: 'make_room',
  description: 'Make a chat room, a private chat with one person, a feed (posts) or a place for files.',
  input: z.object({
    kind: z.enum(['chat_room', 'private_chat', 'posts', 'files']),
    name: z.string().optional(),
    members: z.array(Ref).max(500).default([]).describe('Ids or uids'),
  }),
  output: Room,
  isIdempotent: false,
  async run({ kind, name, members }, call) {
    return toRoom(await call.post<ShownApp>('/api/apps', { type: kind, name, members }))
  },
})

/** The chat of the user and an agent, made where there is none. */
export async function findAgentChat(agent: string | number, call: ClientCall): Promise<ShownApp> {
  const query = { member: String(agent), type: 'agent_chat', order_by: 'id', take: 1, out: 'summary' }
  const { data = [] } = await call.get<Listed<ShownApp>>('/api/apps', query)
  const [known] = data.filter(isOpen)
  return known ?? call.post<ShownApp>('/api/apps', { type: 'agent_chat', members: [agent] })
}

export const roomTools = [listRooms, listPeople, makeRoom]
