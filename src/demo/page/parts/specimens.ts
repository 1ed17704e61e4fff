import type { Comment, File, ListedApp, Member, Message, Notification, Work } from '@parley/client'

/** Someone who writes. */
type Actor = Message['created_by']

const person = (id: number, uid: string, name: string): Actor => ({ id, uid, name, is_trashed: false })

export const ada = person(1, 'ada', 'Ada Park')
export const ben = person(2, 'ben', 'Ben Ruiz')
export const cleo = person(3, 'cleo', 'Cleo Tran')
export const amal = person(4, 'amal', 'أمل حدّاد')
export const long = person(
  5,
  'maximiliane',
  'Maximiliane Friederike von und zu Hohenstein-Oberländer (Einkaufsgenossenschaftsverwaltung)',
)
export const desk: Actor = { ...person(6, 'desk', 'Front desk'), is_agent: true }
export const people = [ada, ben, cleo, amal, long, desk]

/** A word that nothing breaks but the end of the line. */
export const longWord = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'

/** A time of one of the first days of March 2026. */
export const at = (day: number, time: string) => `2026-03-0${day}T${time}:00Z`

let ids = 100

/** A message, post or comment with a text in HTML, as the server would have made it. */
export function item(created_by: Actor, time: string, html: string, more: Partial<Message> = {}): Message {
  const id = ++ids
  const plain = html.replace(/<[^>]*>/g, '')
  const [day, clock] = time.split(' ') as [string, string]
  const made = { created_at: at(Number(day), clock), created_by, is_trashed: false }
  return { id, key: String(id), state: 'settled', html, plain, text: plain, ...made, ...more }
}

/** One that is not with the server. */
export function unsent(text: string, more: Partial<Message>): Message {
  return { ...item(ada, '3 09:30', ''), html: undefined, text, plain: text, id: undefined, ...more } as Message
}

export const list = <Item>(data: Item[]) => ({ data, count: data.length })

export function reactions(...given: [content: string, by: Actor][]): NonNullable<Message['reactions']> {
  return list(given.map(([content, created_by]) => ({ content, created_by, created_at: at(3, '09:00') })))
}

export function poll(own: number | undefined, ...options: [text: string, votes: number][]) {
  return list(options.map(([text, count], id) => ({ id, text, votes: { count }, has_voted: id === own })))
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 150" width="240" height="150"><path fill="#e9e2d6" d="M0 0h240v150H0z"/>
<path fill="#7c5230" d="m60 66-8 60h7l12-60zm120 0 8 60h-7l-12-60z"/><path fill="#a4713f" d="M38 58h164v9H38z"/></svg>`
export const picture = `data:image/svg+xml,${encodeURIComponent(drawing)}`

export function file(name: string, kind: File['kind'], more: Partial<File> = {}): File & { id: number } {
  const id = ++ids
  const made = { created_at: at(2, '10:00'), created_by: cleo, is_trashed: false }
  const shown = kind === 'image' ? { thumbnail_url: picture, preview_url: picture, width: 240, height: 150 } : {}
  const stored = { id, key: String(id), rev: 1, name, kind, size: 48_200, download_url: '#', state: 'settled' } as const
  const media = { media_type: 'application/octet-stream', preview_format: 'none' } as const
  return { ...stored, ...media, ...made, ...shown, ...more, id }
}

const place = {
  id: 1,
  rev: 1,
  type: '',
  kind: 'files',
  access: 'write',
  created_at: at(1, '08:00'),
  is_trashed: false,
} as const

/** Files that hang on a message. */
export const attached = (...files: ReturnType<typeof file>[]) => list(files.map(file => ({ ...file, app: place })))

export function conversation(name: string | undefined, last: Message | undefined, more: Partial<ListedApp> = {}) {
  const app = { id: ++ids, rev: ids, type: '', kind: 'chat_room', access: 'write', created_at: at(1, '08:00') } as const
  const own = { is_pinned: false, is_starred: false, is_subscribed: true, is_trashed: false, is_unread: false }
  return {
    ...app,
    ...own,
    ...(name !== undefined && { name }),
    ...(last?.id !== undefined && { last_message: { ...last, id: last.id } }),
    ...more,
  } satisfies ListedApp
}

export const members: Member[] = people.map((someone, index) => ({
  ...someone,
  access: 'write',
  presence: index % 2 === 0 ? 'active' : 'away',
}))

/** The ids of the members who are there. */
export const present = new Set(members.filter(({ presence }) => presence === 'active').map(({ id }) => id))

export function notification(actor: Actor, plain: string, more: Partial<Notification> = {}): Notification {
  const made = { created_at: at(3, '09:00'), is_unread: false, user: ada, template: plain, text: plain, html: plain }
  return { id: ++ids, type: 'mention', action: 'mentioned', actor, plain, ...made, ...more }
}

/** An agent at work. */
export function work(draft: string, more: Partial<Work['run']> = {}): Work {
  return {
    draft,
    run: { id: ++ids, state: 'running', agent: desk, item: { id: 1, type: 'message' }, ...more } as Work['run'],
  }
}

/** An agent asks for approval. */
export function asks(state: string, more: object = {}): Comment {
  const metadata = {
    tool_approval: { id: '1', tool: 'book_room', arguments: { room: 'Garden', at: '15:00' }, state, ...more },
  }
  return item(desk, '3 09:20', '', { metadata })
}
