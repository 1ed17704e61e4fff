import { z } from 'zod'
import type { Answer, Body } from './client.ts'
import type { Person } from './server.ts'

/** What the UI kit sends with every request, also where there is no body. */
export const kitHeaders = {
  'content-type': 'application/json;charset=utf-8',
  'x-requested-with': 'XMLHttpRequest',
  'x-weavy-source': '@weavy/uikit-web@32.2.0',
}

export type Kit = ReturnType<typeof kitOf>

/** A person in front of the kit: whatever it asks for must be answered with 2xx. */
export function kitOf(person: Person) {
  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    person.request(method, path, { body, headers: kitHeaders })
  const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  return {
    /** For what may be refused. */
    ask,
    get: (path: string) => call('GET', path),
    put: (path: string, body?: unknown) => call('PUT', path, body),
    post: (path: string, body?: unknown) => call('POST', path, body),
    patch: (path: string, body?: unknown) => call('PATCH', path, body),
    remove: (path: string, body?: unknown) => call('DELETE', path, body),
    /** The items of a list. */
    list: async (path: string): Promise<Body[]> => (await call('GET', path)).data ?? [],
    /** A new blob; uploads carry the header of the kit, but the browser's content type. */
    async upload(name: string, content: string | Uint8Array, type = 'text/plain'): Promise<Body> {
      const form = new FormData()
      const part = content instanceof Uint8Array ? Uint8Array.from(content) : content
      form.append('blob', new Blob([part], { type }), name)
      const { 'x-weavy-source': source } = kitHeaders
      const answer = await person.request('POST', '/api/blobs', { body: form, headers: { 'x-weavy-source': source } })
      if (answer.status >= 300) throw new Error(`The upload was answered with ${answer.status}`)
      return answer.body
    },
  }
}

// What the kit cannot do without, in whatever answer it comes: numbers are numbers, and nothing that it reads without
// looking is missing.
const Id = z.int()
const Time = z.string().refine(text => !Number.isNaN(Date.parse(text)), 'is no time')
const AbsoluteUrl = z.url({ protocol: /^https?$/ })
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({ data: z.array(item).optional(), start: z.int(), end: z.int(), count: z.int() })

const User = z.looseObject({ id: Id, name: z.string().min(1), uid: z.string().optional() })
const Member = User.extend({
  access: z.enum(['none', 'read', 'write', 'admin']),
  presence: z.enum(['active', 'away']).optional(),
  marked_id: Id.optional(),
  marked_at: Time.optional(),
})
const AppRef = z.looseObject({ id: Id, type: z.guid().toLowerCase(), uid: z.string().optional() })
/** Of an attachment, its item says which app it is in. */
const Attachment = z.looseObject({
  id: Id,
  rev: z.int().positive(),
  name: z.string().min(1),
  kind: z.string(),
  size: z.int(),
  preview_format: z.enum(['image', 'pdf', 'video', 'audio', 'text', 'code', 'html', 'embed', 'none']),
  download_url: AbsoluteUrl,
  created_at: Time,
  created_by: User,
})
const Option = z.looseObject({ id: Id, text: z.string(), votes: z.looseObject({ count: z.int() }) })
const Content = z.looseObject({
  id: Id,
  app: AppRef,
  html: z.string().optional(),
  created_at: Time,
  created_by: User,
  attachments: listOf(Attachment).optional(),
  options: listOf(Option).optional(),
  reactions: listOf(z.looseObject({ content: z.string(), created_by: User })).optional(),
})
const App = AppRef.extend({
  rev: z.int(),
  permissions: z.array(z.enum(['list', 'read', 'create', 'update', 'delete', 'admin'])).min(1),
})
const Link = z.looseObject({ id: Id, type: z.string(), app: AppRef.optional() })

/** Entities as the kit reads them: `parse` throws where something is missing or of another type. */
export const shapes = {
  User,
  Member,
  App,
  Conversation: App.extend({
    name: z.string().min(1),
    members: listOf(Member).required({ data: true }),
    last_message: Content.optional(),
  }),
  Message: Content,
  Post: Content.extend({ comments: z.looseObject({ count: z.int() }) }),
  Comment: Content.extend({ parent: z.strictObject({ id: Id, type: z.enum(['post', 'file']) }).optional() }),
  File: Attachment.extend({ app: AppRef }),
  Option,
  Notification: z.looseObject({
    id: Id,
    type: z.enum(['activity', 'mention', 'reaction']),
    actor: User,
    html: z.string(),
    plain: z.string(),
    link: Link.optional(),
    created_at: Time,
  }),
}
