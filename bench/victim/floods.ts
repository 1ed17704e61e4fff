import type { FloodSockets } from '../load/flood.ts'
import { toRequest } from '../load/http-connection.ts'
import type { Parley } from '../parley.ts'
import type { Person } from '../world.ts'

/** What one user does to a server. */
export interface Flood {
  name: string
  connections: number
  requests: string[]
  sockets?: Omit<FloodSockets, 'path' | 'token'>
  /** Called when it begins. */
  begin?: () => Promise<void>
}

/** Where floods happen, and who makes them. */
export interface Place {
  /** A room of 20,000 messages, that the victim writes to. */
  room: string
  /** A room of 1,000 members. */
  crowd: string
  crowdMembers: Person[]
  flooder: Person
}

/** Requests under way at a time. */
const inFlight = 64

const textLength = 64 * 1024
const fill = (unit: string) => unit.repeat(Math.ceil(textLength / unit.length)).slice(0, textLength)
const long = (at: number) => `${'x'.repeat(100)}${at}`
/** Nothing is wrong before its end. */
const broken = `[${'{"text":[1,2,3]},'.repeat(250_000).slice(0, 4 * 1024 * 1024 - 4096)}`
const several = (make: (at: number) => string) => Array.from({ length: 16 }, (_, at) => make(at))

/** All floods. What they need beside the place is made here, by the API. */
export async function makeFloods(parley: Parley, { room, crowd, crowdMembers, flooder }: Place): Promise<Flood[]> {
  const ask = (method: string, path: string, body?: unknown) => toRequest(method, path, flooder.token, body)
  const send = (app: string, text: string) => ask('POST', `/api/apps/${app}/messages`, { text })
  const call = async (method: string, path: string, body?: unknown) =>
    JSON.parse(await parley.call(method, path, body, flooder.token)) as { id: string; archive_url: string }
  const { id: own } = await call('POST', '/api/apps', { type: 'chat', name: 'Of the flood' })
  const { id: edited } = await call('POST', `/api/apps/${own}/messages`, { text: 'First' })
  const { id: library } = await call('POST', '/api/apps', { type: 'files', name: 'Library' })
  await parley.call('POST', '/api/agents', {
    uid: `reader-${library}`,
    name: 'Reader',
    provider: 'builtin',
    model: 'echo',
    knowledge: [library],
  })
  await addFile(parley, library, flooder)
  const archive = new URL((await call('GET', `/api/apps/${library}`)).archive_url, 'http://parley')
  const subscribe = JSON.stringify({ type: 'subscribe', app_id: Number(room) })
  const form = (bytes: number) => toUpload(flooder, 'a.bin', 'x'.repeat(bytes))

  const flood = (name: string, requests: string[]): Flood => ({ name, connections: inFlight, requests })
  return [
    flood('texts of links', [send(own, fill('https://a.example/b?c=d '))]),
    flood('texts of links to the same room', [send(room, 'https://a.example/b?c=d '.repeat(80))]),
    flood('texts of brackets', [send(own, '['.repeat(textLength / 2) + ']'.repeat(textLength / 2))]),
    flood('bodies of 4 MiB', [
      ask('POST', `/api/apps/${own}/messages`, { text: 'a', metadata: toMembers(29_000), tags: [fill('x')] }),
    ]),
    flood(
      'searches for long words',
      several(at => ask('GET', `/api/apps/${room}/messages?q=${long(at)}+${long(-at)}`)),
    ),
    flood(
      'pages from deep',
      several(at => ask('GET', `/api/apps/${room}/messages?order_by=created_at&skip=${19_000 - at}&take=100`)),
    ),
    flood('pages of 100', [ask('GET', `/api/apps/${room}/messages?order_by=id+desc&take=100`)]),
    flood('lists of all users', [ask('GET', '/api/users?take=100')]),
    flood('uploads of 1 MiB', [form(1024 * 1024)]),
    flood(
      'mentions of 200 people',
      several(at =>
        send(
          crowd,
          crowdMembers
            .slice(at * 50, at * 50 + 200)
            .map(({ id }) => `[N](@u${id})`)
            .join(' '),
        ),
      ),
    ),
    flood(
      'edits of one message',
      several(at => ask('PATCH', `/api/messages/${edited}`, { text: `Edited ${at}` })),
    ),
    flood('word of typing', [ask('PUT', `/api/apps/${crowd}/typing`)]),
    flood('requests without an address', [ask('GET', '/api/nothing')]),
    flood(
      'addresses with slips',
      several(at => ask('GET', `/api/aps/${at}/mesages/reactons/${'x'.repeat(at)}`)),
    ),
    flood('bodies of 4 MiB that are not JSON', [toPost(flooder, `/api/apps/${own}/messages`, broken)]),
    flood(
      'lists of whole items',
      several(at => ask('GET', `/api/apps/${room}/messages?out=details&order_by=id+desc&take=${100 - at}`)),
    ),
    flood(
      'searches of everything',
      several(at => ask('GET', `/api/search?q=${at % 2 === 0 ? 'good' : long(at)}`)),
    ),
    flood(
      'tools of AI clients',
      several(id =>
        toPost(flooder, '/mcp', JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' }), {
          accept: 'application/json, text/event-stream',
        }),
      ),
    ),
    flood(
      'searches of the guides',
      several(at => toRequest('GET', `/docs?q=a+e+i+o+n+s+t+${at}`, null)),
    ),
    flood('descriptions of the API', [toRequest('GET', '/api/openapi.json?scalars=number', null)]),
    flood('tokens that are none', [toRequest('GET', '/api/user', `wyu_${'x'.repeat(32)}`)]),
    {
      name: '2,500 WebSockets',
      connections: 0,
      requests: [],
      sockets: { count: 2_500, everyMs: 0, frames: [subscribe] },
    },
    {
      name: 'frames',
      connections: 0,
      requests: [],
      sockets: {
        count: 50,
        everyMs: 20,
        frames: [subscribe, JSON.stringify({ type: 'unsubscribe', app_id: Number(room) })],
      },
    },
    {
      name: 'files that an agent reads',
      connections: 0,
      requests: [],
      begin: async () => {
        for (let at = 0; at < 4; at++) await addFile(parley, library, flooder)
      },
    },
    flood('archives', [toRequest('GET', `${archive.pathname}${archive.search}`, null)]),
  ]
}

/** A file without a blank line, as logs and tables are. */
async function addFile({ origins }: Parley, library: string, { token }: Person): Promise<void> {
  const { host, port } = origins[0]!
  const authorization = `Bearer ${token}`
  const form = new FormData()
  form.append('blob', new Blob(['a;b;c;d\n'.repeat(600_000)]), 'table.csv')
  const at = (path: string) => `http://${host}:${port}${path}`
  const kept = await fetch(at('/api/blobs'), { method: 'POST', headers: { authorization }, body: form })
  const { id: blob_id } = (await kept.json()) as { id: string }
  await fetch(at(`/api/apps/${library}/files`), {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ blob_id }),
  })
}

function toMembers(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`member ${at} ${'x'.repeat(90)}`, at]))
}

const boundary = 'parley-bench'

function toUpload(person: Person, name: string, content: string): string {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="blob"; filename="${name}"\r\n\r\n`
  const type = `multipart/form-data; boundary=${boundary}`
  return toPost(person, '/api/blobs', `${head}${content}\r\n--${boundary}--\r\n`, { 'content-type': type })
}

/** A request with a body as it is, of JSON unless `headers` say otherwise. */
function toPost({ token }: Person, path: string, body: string, headers: Record<string, string> = {}): string {
  const all = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nHost: {host}\r\n${lines.join('')}\r\n${body}`
}
