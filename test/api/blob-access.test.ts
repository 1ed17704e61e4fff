import sharp from 'sharp'
import { expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const png = await sharp({ create: { width: 2, height: 1, channels: 3, background: 'red' } })
  .png()
  .toBuffer()

const picture = async (by: Client): Promise<string> =>
  (await upload(by, { name: 'p.png', content: png, type: 'image/png' })).body.id
const statusFor = async (who: Person, blob: string) => (await who.get(`/api/blobs/${blob}`)).status

test.each(['messages', 'posts', 'comments'])(
  'what is attached to %s in the trash is for those who may take it out',
  async kind => {
    await using server = await startServer()
    const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
    const app = await appOf(server, kind === 'messages' ? 'chat' : kind, [ann, ben])
    await server.admin.put(`/api/apps/${app}/members/${eve.id}`, { access: 'admin' })
    const blob = await picture(server.admin)
    const item = await create(server.admin, `/api/apps/${app}/${kind}`, { blobs: [blob] })
    const seen = () => Promise.all([ben, eve].map(who => statusFor(who, blob)))

    const before = await seen()
    await server.admin.post(`/api/${kind}/${item.id}/trash`)
    const inTrash = await seen()
    await server.admin.post(`/api/${kind}/${item.id}/restore`)

    expect(before).toEqual([200, 200])
    expect(inTrash).toEqual([404, 200])
    expect(await seen()).toEqual([200, 200])
  },
)

test('what is attached to a comment is hidden with the post that it is about', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'A post' })
  const blob = await picture(ann)
  await create(ann, `/api/posts/${post.id}/comments`, { blobs: [blob] })

  const before = await statusFor(ben, blob)
  await ann.post(`/api/posts/${post.id}/trash`)

  expect([before, await statusFor(ben, blob)]).toEqual([200, 404])
})

test('a file in the trash, with its versions, is for those who may take it out', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const app = await appOf(server, 'files', [ann, ben])
  await server.admin.put(`/api/apps/${app}/members/${eve.id}`, { access: 'read' })
  const blobs = [await picture(ann), await picture(ann)]
  const file = await create(ann, `/api/apps/${app}/files`, { blob_id: blobs[0] })
  await create(ann, `/api/apps/${app}/files`, { blob_id: blobs[1], name: 'p.png', replace: true })
  const seen = () => Promise.all([ben, eve].flatMap(who => blobs.map(blob => statusFor(who, blob))))

  const before = await seen()
  await ann.post(`/api/files/${file.id}/trash`)

  expect(before).toEqual([200, 200, 200, 200])
  expect(await seen()).toEqual([200, 200, 404, 404])
})

test('whoever removed a private chat no longer sees what was in it: attachments, embeds and their pictures', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const chat = await create(ann, '/api/apps', { type: 'private_chat', members: [ben.id] })
  const [attached, shown, later] = [await picture(ann), await picture(ann), await picture(ann)]
  const embed = await create(ann, '/api/embeds', { type: 'link', title: 'A link', image: shown })
  await create(ann, `/api/apps/${chat.id}/messages`, { blobs: [attached], embed_id: embed.id })
  const seen = async () => [
    await statusFor(ben, attached),
    await statusFor(ben, shown),
    (await ben.get(`/api/embeds/${embed.id}`)).status,
  ]

  const before = await seen()
  await ben.post(`/api/apps/${chat.id}/remove`)
  const after = await seen()
  await create(ann, `/api/apps/${chat.id}/messages`, { blobs: [later] })

  expect(before).toEqual([200, 200, 200])
  expect(after).toEqual([404, 404, 404])
  expect(await statusFor(ben, later)).toBe(200)
})

test('whose picture a blob is, be it of hundreds of apps, is found without bringing these into memory', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const logo = await picture(ann)
  await database.sql`
    insert into apps (type, name, picture_id, rev, head_rev, created_at, created_by)
    select 'posts', 'App ' || i, ${logo}, 1, 1, now(), 0 from generate_series(1, 500) i`
  const inMemory = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^parley_apps (\d+)$/m.exec(text)?.[1])
  }

  const hidden = await statusFor(ben, logo)
  await database.sql`update apps set access = 'read' where name = 'App 499'`

  expect([hidden, await statusFor(ben, logo)]).toEqual([404, 200])
  expect(await inMemory()).toBe(0)
})
