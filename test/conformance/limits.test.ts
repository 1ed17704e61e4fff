import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

/** The request with a value of so many characters. */
interface Row {
  of: string
  field: string
  limit: number
  send: (value: string) => Promise<{ status: number; body: { errors?: object } }>
  /** What makes a value of the field one that would be taken if it were short. */
  shape?: (length: number) => string
}

const mebibyte = 1024 * 1024
const text = (length: number) => 'x'.repeat(length)
const mail = (length: number) => `${'x'.repeat(length - 10)}@x.example`
const url = (length: number) => `https://x.example/${'x'.repeat(length - 18)}`

describe('values may be as long as their limit, and not longer', () => {
  let server: Server
  let ann: Person
  let user: string
  let chat: string
  let feed: string
  let file: string
  let message: string
  let post: string
  beforeAll(async () => {
    server = await startServer()
    ann = await server.person('Ann')
    user = `/api/users/${(await server.person('Long')).id}`
    chat = `/api/apps/${(await create(ann, '/api/apps', { type: 'chat' })).id}`
    feed = `/api/apps/${(await create(ann, '/api/apps', { type: 'posts' })).id}`
    const folder = `/api/apps/${(await create(ann, '/api/apps', { type: 'files' })).id}`
    const { body: blob } = await upload(ann, { name: 'a.txt', content: 'text' })
    file = `/api/files/${(await create(ann, `${folder}/files`, { blob_id: blob.id })).id}`
    message = `/api/messages/${(await create(ann, `${chat}/messages`, { text: 'x' })).id}`
    post = `/api/posts/${(await create(ann, `${feed}/posts`, { text: 'x' })).id}`
    await create(server.admin, '/api/agents', { uid: 'bot', name: 'Bot', provider: 'openai', model: 'x' })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const external = { provider: 'Box', link: 'https://box.example/1', name: 'a.txt', size: 1 }
  const named = (field: string) => (value: string) => server.admin.patch(user, { [field]: value })
  const webhook = { payload_url: 'https://hook.example', triggers: ['messages'] }
  const embed = { type: 'link', title: 'x' }

  const rows: Row[] = [
    { of: 'user', field: 'uid', limit: 256, send: uid => server.admin.post('/api/users', { uid }) },
    { of: 'app', field: 'uid', limit: 256, send: uid => ann.post('/api/apps', { type: 'chat', uid }) },
    { of: 'app', field: 'name', limit: 256, send: name => ann.patch(chat, { name }) },
    { of: 'user', field: 'name', limit: 256, send: named('name') },
    { of: 'directory', field: 'name', limit: 256, send: name => server.admin.post('/api/directories', { name }) },
    { of: 'file', field: 'name', limit: 256, send: name => ann.patch(file, { name }) },
    { of: 'user', field: 'email', limit: 256, send: named('email'), shape: mail },
    {
      of: 'blob',
      field: 'name',
      limit: 256,
      send: name => ann.post('/api/blobs/external', { ...external, name }),
    },
    {
      of: 'blob',
      field: 'provider',
      limit: 256,
      send: provider => ann.post('/api/blobs/external', { ...external, provider }),
    },
    {
      of: 'webhook',
      field: 'secret',
      limit: 256,
      send: secret => server.admin.post('/api/webhooks', { ...webhook, secret }),
    },
    { of: 'app', field: 'description', limit: 512, send: description => ann.patch(chat, { description }) },
    { of: 'user', field: 'given_name', limit: 64, send: named('given_name') },
    { of: 'user', field: 'middle_name', limit: 64, send: named('middle_name') },
    { of: 'user', field: 'family_name', limit: 64, send: named('family_name') },
    { of: 'user', field: 'nickname', limit: 32, send: named('nickname') },
    { of: 'user', field: 'phone_number', limit: 32, send: named('phone_number') },
    {
      of: 'blob',
      field: 'media_type',
      limit: 128,
      send: media_type => ann.post('/api/blobs/external', { ...external, media_type }),
    },
    {
      of: 'blob',
      field: 'link',
      limit: 2048,
      send: link => ann.post('/api/blobs/external', { ...external, link }),
      shape: url,
    },
    {
      of: 'blob',
      field: 'download',
      limit: 2048,
      send: download => ann.post('/api/blobs/external', { ...external, download }),
      shape: url,
    },
    {
      of: 'blob',
      field: 'embed',
      limit: 2048,
      send: embed => ann.post('/api/blobs/external', { ...external, embed }),
      shape: url,
    },
    { of: 'embed', field: 'url', limit: 2048, send: url => ann.post('/api/embeds', { ...embed, url }), shape: url },
    {
      of: 'meeting',
      field: 'join_url',
      limit: 2048,
      send: join_url => ann.post('/api/meetings', { join_url }),
      shape: url,
    },
    {
      of: 'webhook',
      field: 'payload_url',
      limit: 2048,
      send: payload_url => server.admin.post('/api/webhooks', { ...webhook, payload_url }),
      shape: url,
    },
    { of: 'message', field: 'text', limit: 65_536, send: text => ann.post(`${chat}/messages`, { text }) },
    { of: 'edited message', field: 'text', limit: 65_536, send: text => ann.patch(message, { text }) },
    { of: 'post', field: 'text', limit: 65_536, send: text => ann.post(`${feed}/posts`, { text }) },
    { of: 'comment', field: 'text', limit: 65_536, send: text => ann.post(`${post}/comments`, { text }) },
    {
      of: 'agent',
      field: 'instructions',
      limit: 32_768,
      send: instructions => server.admin.patch('/api/agents/bot', { instructions }),
    },
    { of: 'user', field: 'comment', limit: 1024, send: named('comment') },
    { of: 'agent', field: 'comment', limit: 1024, send: comment => server.admin.patch('/api/agents/bot', { comment }) },
  ]

  test.each(rows)('$field of a $of: $limit characters', async ({ field, limit, send, shape = text }) => {
    const taken = await send(shape(limit))
    const refused = await send(shape(limit + 1))

    expect([taken.status, refused.status]).toEqual([expect.toSatisfy(status => status === 200 || status === 201), 422])
    expect(Object.keys(refused.body.errors ?? {})).toEqual([field])
  })

  test('the name of an upload is cut rather than refused, because it is not the one who uploads who chose it', async () => {
    const { body: blob } = await upload(ann, { name: text(257), content: 'x' })

    expect(blob.name).toBe(text(256))
  })

  test('five hundred members at once are taken, one more is refused', async () => {
    const ids = (count: number) => Array.from({ length: count }, () => ann.id)
    const make = (count: number) => server.admin.post('/api/apps', { type: 'chat_room', members: ids(count) })
    const add = (count: number) =>
      ann.put(
        `${chat}/members`,
        ids(count).map(user => ({ user, access: 'admin' })),
      )

    expect([(await make(500)).status, (await make(501)).status]).toEqual([201, 422])
    expect([(await add(500)).status, (await add(501)).status]).toEqual([200, 422])
  })

  test('an agent has up to sixteen tool servers', async () => {
    const settings = (i: number) => ({ name: `tools-${i}`, url: 'https://mcp.example' })
    const add = async (i: number) => (await server.admin.post('/api/agents/bot/mcp', settings(i))).status
    const put = async (i: number) => (await server.admin.put(`/api/agents/bot/mcp/tools-${i}`, settings(i))).status

    for (let i = 1; i <= 16; i++) expect(await add(i)).toBe(201)
    expect([await add(17), await put(17), await put(1)]).toEqual([422, 422, 200])
  })

  test('a body is at most 4 MiB, or 16 MiB where it may hold a picture', async () => {
    const sizes = [4 * mebibyte - 100, 4 * mebibyte + 1, 16 * mebibyte - 100, 16 * mebibyte + 1]
    const statuses = async (send: (padding: string) => Promise<{ status: number }>) => {
      const answers: number[] = []
      // One after the other: a user's bodies that arrive at the same time have a limit of their own.
      for (const size of sizes) answers.push((await send('x'.repeat(size))).status)
      return answers
    }

    // What is read to its end is then refused for what it says.
    expect(await statuses(text => ann.post(`${chat}/messages`, { text }))).toEqual([422, 413, 413, 413])
    expect(await statuses(picture => ann.patch(chat, { picture }))).toEqual([422, 422, 422, 413])
  })
})
