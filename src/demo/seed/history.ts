import { draw } from './pictures.ts'
import { people, type Person } from '../page/people.ts'
import { launch, lobby, pair, posts, remarks, support, workshop, type Said } from './talk.ts'

type Line = Record<string, unknown>

const everybody = Object.keys(people) as Person[]

/** A document of the demo. */
const handbook = `# Care for oiled oak

Oak that was oiled lives. Give it what it needs, and it will outlive us.

1. Wipe with a damp cloth, never a wet one.
2. Oil once a year, thinly, and take off what is not soaked up after 20 minutes.
3. A ring of a glass goes away with fine steel wool and a drop of oil.

> Warranty: ten years on joints. Wood moves, that is no fault.
`

const delivery = `# Delivery

We deliver ourselves within 60 kilometres, for 45.00, on Tuesdays and Thursdays. Farther away a carrier comes, from 120.00.

Tables come whole and are carried by two. Shelves come in parts and need no screws.

# Returns

What was not made to measure may be returned within 30 days. We fetch it, and pay back the price without delivery.
`

const agenda = `Open house, Friday

13:30  doors, coffee (Fay)
14:00  welcome (Ada)
14:30  tour of the workshop (Ben)
15:30  cake
17:00  end
`

/** The workspace of a small company with days of history, as lines of the format of docs/moving-data.md. */
export async function writeHistory(): Promise<string> {
  const lines: Line[] = [{ type: 'header', format: 'parley', version: 1, source: 'demo' }]
  for (const [uid, name] of Object.entries(people)) lines.push({ type: 'user', id: uid, uid, name })
  const add = new History(lines)
  await add.app({ uid: 'demo-chat', kind: 'chat', name: 'Lobby' }, everybody, 'message', lobby)
  await add.app({ uid: 'demo-launch', kind: 'chat_room', name: 'Spring collection' }, everybody, 'message', launch)
  await add.app(
    { uid: 'demo-workshop', kind: 'chat_room', name: 'Workshop' },
    ['ada', 'ben', 'emil'],
    'message',
    workshop,
  )
  await add.app({ uid: 'demo-pair', kind: 'private_chat', pair: ['ada', 'ben'] }, ['ada', 'ben'], 'message', pair)
  await add.app({ uid: 'demo-support', kind: 'private_chat', pair: ['ada', 'fay'] }, ['ada', 'fay'], 'message', support)
  await add.app({ uid: 'demo-feed', kind: 'posts', name: 'News' }, everybody, 'post', posts)
  await add.app({ uid: 'demo-files', kind: 'files', name: 'Documents' }, everybody, 'message', [])
  await add.app({ uid: 'demo-comments', kind: 'comments', name: 'Guest book' }, everybody, 'comment', [])
  await add.file('Spring collection.png', 'image/png', await draw('table'), 'cleo', [1, '15:40'], remarks)
  await add.file('Oak for the catalogue.png', 'image/png', await draw('forest'), 'emil', [2, '11:00'])
  await add.file('Care for oiled oak.md', 'text/markdown', Buffer.from(handbook), 'ben', [3, '09:00'])
  await add.file('Delivery and returns.md', 'text/markdown', Buffer.from(delivery), 'dana', [2, '09:30'])
  await add.file('Open house.txt', 'text/plain', Buffer.from(agenda), 'ada', [2, '17:00'])
  return add
    .end()
    .map(line => `${JSON.stringify(line)}\n`)
    .join('')
}

/** The lines of a history: items in the order of their times, whatever they are in, and then who has read them. */
class History {
  readonly #lines: Line[]
  readonly #items: { at: string; lines: Line[] }[] = []
  readonly #members: Line[] = []
  #ids = 0

  constructor(lines: Line[]) {
    this.#lines = lines
  }

  async app(
    app: Line & { uid: string },
    members: readonly Person[],
    type: string,
    said: readonly Said[],
  ): Promise<void> {
    const { uid } = app
    this.#lines.push({ type: 'app', id: uid, ...app, created_at: toTime([12, '08:00']), created_by: 'ada' })
    const ids: string[] = []
    for (const one of said) ids.push(await this.#say(uid, type, one))
    // The last word is new to those who did not say it.
    for (const user of members) {
      const isLast = said.at(-1)?.by === user
      const marked = type === 'message' ? ids.at(isLast ? -1 : -2) : undefined
      this.#members.push({
        type: 'member',
        app: uid,
        user,
        access: user === 'ada' ? 'admin' : 'write',
        ...(marked && { marked }),
      })
    }
  }

  async file(
    name: string,
    media: string,
    bytes: Buffer,
    by: Person,
    at: Said['at'],
    remarks: readonly Said[] = [],
  ): Promise<void> {
    const id = this.#next()
    this.#attach(this.#begin(at), id, undefined, { name, media, bytes, by, at })
    for (const remark of remarks) await this.#say('demo-files', 'comment', remark, `file ${id}`)
  }

  async #say(app: string, type: string, { at, by, text, options, ...more }: Said, parent?: string): Promise<string> {
    const id = this.#next()
    const created_at = toTime(at)
    const lines = this.#begin(at)
    lines.push({
      type,
      id,
      app,
      text,
      created_at,
      created_by: by,
      ...(options && { options }),
      ...(parent && { parent }),
    })
    for (const [user, content] of more.reactions ?? [])
      lines.push({ type: 'reaction', item: id, user, content, created_at })
    for (const [user, option] of more.votes ?? []) lines.push({ type: 'vote', item: id, user, option })
    const name = more.picture
    if (name !== undefined)
      this.#attach(lines, this.#next(), id, {
        app,
        name: `${name}.png`,
        media: 'image/png',
        bytes: await draw(name),
        by,
        at,
      })
    for (const comment of more.comments ?? []) await this.#say(app, 'comment', comment, id)
    return id
  }

  #attach(
    lines: Line[],
    id: string,
    item: string | undefined,
    {
      app = 'demo-files',
      name,
      media,
      bytes,
      by,
      at,
    }: { app?: string; name: string; media: string; bytes: Buffer; by: Person; at: Said['at'] },
  ): void {
    const made = { created_at: toTime(at), created_by: by }
    lines.push({ type: 'blob', id, name, media_type: media, size: bytes.length, ...made })
    for (let start = 0; start < bytes.length; start += 192 * 1024)
      lines.push({ type: 'bytes', data: bytes.subarray(start, start + 192 * 1024).toString('base64') })
    lines.push({
      type: 'file',
      id: `file ${id}`,
      app,
      name,
      ...(item && { item }),
      versions: [{ blob: id, ...made }],
      ...made,
    })
  }

  /** The lines of an item. */
  #begin(at: Said['at']): Line[] {
    const lines: Line[] = []
    this.#items.push({ at: toTime(at), lines })
    return lines
  }

  /** All lines in an order in which each names only lines before it. */
  end(): Line[] {
    const items = this.#items.toSorted((a, b) => a.at.localeCompare(b.at)).flatMap(({ lines }) => lines)
    return [...this.#lines, ...items, ...this.#members]
  }

  #next(): string {
    return String(++this.#ids)
  }
}

function toTime([daysAgo, time]: Said['at']): string {
  const [hours, minutes] = time.split(':').map(Number)
  const at = new Date()
  at.setDate(at.getDate() - daysAgo)
  at.setHours(hours!, minutes!, 0, 0)
  return at.toISOString()
}
