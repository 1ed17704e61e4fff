import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { eventTypes } from '../../src/resources/index.ts'
import { describePayloads } from '../../src/resources/webhooks/described.ts'
import { triggers } from '../../src/resources/webhooks/schema.ts'
import { png } from '../conformance/world.ts'
import type { Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { toStrict } from '../support/replies.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import { payloadOf, register } from '../support/webhooks.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')

/** What stands under a name, as the table of docs/webhooks.md calls it; anything else is a value, and not looked into. */
const kinds: Record<string, string> = {
  ...Object.fromEntries(['actor', 'created_by', 'updated_by', 'user'].map(name => [name, 'a person'])),
  ...Object.fromEntries(['message', 'post', 'comment'].map(name => [name, '`message`, `post`, `comment`'])),
  ...Object.fromEntries(['file', 'attachments'].map(name => [name, '`file`, `attachments`'])),
  ...Object.fromEntries(
    ['app', 'notification', 'link', 'poll', 'entity', 'run', 'approval', 'entry', 'parent', 'comments'].map(name => [
      name,
      `\`${name}\``,
    ]),
  ),
  ...Object.fromEntries(['picture', 'image'].map(name => [name, '`picture`, `image`'])),
  ...Object.fromEntries(['option', 'options'].map(name => [name, '`option`, `options`'])),
  embed: '`embed`',
  meeting: '`meeting`',
  votes: '`votes`',
  reactions: '`reactions`',
}

/** The members of everything of a kind in a payload, by the kind. */
function collect(value: unknown, kind: string, found: Map<string, Set<string>>): Map<string, Set<string>> {
  if (Array.isArray(value)) for (const one of value) collect(one, kind, found)
  else if (typeof value === 'object' && value !== null) {
    // A list of several: what it lists is meant, and how many there are.
    if ('data' in value && 'count' in value) {
      collect(value.data, kind, found)
      return found
    }
    const members = found.get(kind) ?? new Set()
    found.set(kind, members)
    for (const [name, member] of Object.entries(value)) {
      members.add(name)
      const inner = kinds[name]
      if (inner !== undefined) collect(member, inner, found)
    }
  }
  return found
}

let server: Server
let receiver: Receiver
let site: Receiver
let told: Body[]
beforeAll(async () => {
  server = await startServer({ FETCH_ALLOW: '127.0.0.0/8' })
  receiver = await startReceiver()
  const html = '<!doctype html><title>A page</title><meta name="description" content="About it">'
  site = await startReceiver(answer(200, html, { 'content-type': 'text/html' }))
  await register(server, receiver.url, { triggers: [...triggers] })
  await everything()
  told = receiver.requests.map(payloadOf)
}, 120_000)
afterAll(async () => {
  for (const part of [server, receiver, site]) await part[Symbol.asyncDispose]()
})

test('payloads have the members that the page about webhooks lists, and no others', () => {
  const table = page.slice(page.indexOf('<!-- members -->'), page.indexOf('<!-- /members -->'))
  const rows = [...table.matchAll(/^\| (.+?) +\| (`.+`) *\|$/gm)].map(([, kind, members]) => [
    kind,
    members!.replaceAll('`', '').split(', ').toSorted(),
  ])

  const found = new Map<string, Set<string>>()
  for (const { id: _, action: __, ...payload } of told) {
    for (const [name, value] of Object.entries(payload)) {
      const kind = kinds[name]
      if (kind !== undefined) collect(value, kind, found)
    }
  }

  const sent = Object.fromEntries([...found].map(([kind, members]) => [kind, [...members].toSorted()]))
  if (process.env.SHOW) console.log(JSON.stringify(sent, null, 1))
  expect(sent).toEqual(Object.fromEntries(rows))
})

test('payloads are as the description of the API says', () => {
  const schemas = Object.values(describePayloads(eventTypes)).flatMap(one =>
    one instanceof z.ZodDiscriminatedUnion ? (one.options as z.ZodObject[]) : [one as z.ZodObject],
  )
  const byAction = new Map(schemas.map(one => [(one.shape.action as z.ZodLiteral).value, toStrict(one, 'string')]))

  const faults = told.flatMap(payload => {
    const { error } = byAction.get(payload.action)!.safeParse(payload)
    return error === undefined ? [] : [`${payload.action}: ${z.prettifyError(error)}`]
  })
  expect(new Set(faults)).toEqual(new Set())
})

test('no payload has anything of a profile, wherever people stand in it', () => {
  // The audit log names the members of a profile that were changed, and says nothing of what they hold.
  const text = JSON.stringify(told, (_, value: unknown) => (value === '[changed]' ? undefined : value))

  expect(told.length).toBeGreaterThan(20)
  expect(text).not.toMatch(/secret-profile|"(?:email|phone_number|given_name|nickname|directories|username)"/)
})

/** Brings about every action that there is, by people with all of a profile. */
async function everything(): Promise<void> {
  const { admin } = server
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const picture = async (by: Person) => (await upload(by, { name: 'a.png', content: png, type: 'image/png' })).body.id
  for (const person of [ann, ben]) {
    const profile = { given_name: 'secret-profile', middle_name: 'secret-profile', nickname: 'secret-profile' }
    const contact = { email: 'secret-profile@example.com', phone_number: 'secret-profile', comment: 'secret-profile' }
    const rest = { metadata: { of: 'secret-profile' }, tags: ['secret-profile'], picture: await picture(person) }
    expect((await admin.patch(`/api/users/${person.id}`, { ...profile, ...contact, ...rest })).status).toBe(200)
  }
  const app = async (type: string) => {
    const id = await appOf(server, type, [ann, ben])
    await admin.patch(`/api/apps/${id}`, {
      uid: `uid-${type}`,
      description: 'About',
      metadata: { a: 1 },
      tags: ['t'],
      picture: await picture(ann),
    })
    return id
  }
  const drawn = await create(ann, '/api/embeds', {
    type: 'rich',
    title: 'A page',
    html: '<iframe src="https://player.example/"></iframe>',
    url: 'https://player.example/',
    width: 640,
    height: 360,
    image: await picture(ann),
    metadata: { a: 1 },
  })
  for (const [type, plural] of [
    ['chat', 'messages'],
    ['posts', 'posts'],
    ['comments', 'comments'],
  ] as const) {
    const id = await app(type)
    const embed = (await ann.get(`/api/embeds?url=${site.url}`)).body.id
    const meeting = await create(ann, '/api/meetings', { provider: 'other', join_url: 'https://meet.example/1' })
    const item = await create(ann, `/api/apps/${id}/${plural}`, {
      text: 'Which, [Ben](@' + ben.uid + ')?',
      metadata: { a: 1 },
      tags: ['t'],
      blobs: [await picture(ann)],
      options: [{ text: 'this' }, { text: 'that' }],
      embed_id: plural === 'posts' ? drawn.id : embed,
      meeting_id: meeting.id,
    })
    await ben.post(`/api/options/${(await ben.get(`/api/${plural}/${item.id}`)).body.options.data[0].id}/vote`)
    await ben.post(`/api/${plural}/${item.id}/reactions`, { content: '🎉' })
    await ann.patch(`/api/${plural}/${item.id}`, { text: 'edited' })
    await ben.delete(`/api/${plural}/${item.id}/reactions`)
    if (plural === 'posts') {
      const comment = await create(ben, `/api/posts/${item.id}/comments`, { text: 'on a post' })
      await ann.post(`/api/comments/${comment.id}/reactions`, { content: '🎉' })
    }
    if (plural === 'messages') await ben.put(`/api/apps/${id}/mark?message_id=${item.id}`)
    await create(ann, `/api/apps/${id}/${plural}`, { text: 'gone' }).then(({ id: gone }) =>
      ann.delete(`/api/${plural}/${gone}`),
    )
  }
  const files = await app('files')
  const file = await create(ann, `/api/apps/${files}/files`, {
    blob_id: await picture(ann),
    metadata: { a: 1 },
    tags: ['t'],
  })
  await ben.patch(`/api/files/${file.id}`, { name: 'b.png' })
  await create(ben, `/api/files/${file.id}/comments`, { text: 'on a file' })
  await create(ben, `/api/files/${file.id}/reactions`, { content: '🎉' }).catch(() => {})
  await ann.delete(`/api/files/${file.id}`)
  await create(admin, '/api/agents', { uid: 'echo', name: 'Echo', provider: 'builtin', model: 'echo' })
  const chat = await create(ann, '/api/apps', { type: 'agent_chat', members: ['echo'] })
  await create(ann, `/api/apps/${chat.id}/messages`, { text: 'Hello' })
  await eventually(() => {
    const actions = new Set(receiver.requests.map(request => payloadOf(request).action as string))
    expect([...actions]).toEqual(expect.arrayContaining(['run_done', 'notification_created', 'audit_entry_created']))
    // Notifications are made later than what they are about: this one is made last of those that have a member more.
    expect(receiver.requests.some(request => payloadOf(request).notification?.link?.parent !== undefined)).toBe(true)
  })
  // What else is there for Ben may not have been made yet, or be read: then marking changes nothing, and nothing is sent.
  await create(admin, '/api/notifications', { user: ben.id, text: 'Look' })
  expect((await ben.put('/api/notifications/mark')).status).toBe(204)
  await eventually(() => {
    expect(receiver.requests.some(request => payloadOf(request).action === 'notifications_marked')).toBe(true)
  })
}
