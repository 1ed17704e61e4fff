import sharp from 'sharp'
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const png = await sharp({ create: { width: 600, height: 300, channels: 3, background: '#2060c0' } })
  .png()
  .toBuffer()
const dataUri = `data:image/png;base64,${png.toString('base64')}`

test.each(['number', 'digits'])('an uploaded picture is given by its id (%s), and shown as a square', async form => {
  await using server = await startServer()
  const { body: blob } = await upload(server.admin, { name: 'me.png', content: png, type: 'image/png' })
  const picture = form === 'number' ? Number(blob.id) : blob.id

  const { body: user } = await server.admin.post('/api/users', { uid: 'ann', name: 'Ann', picture })

  expect(user.picture).toMatchObject({ id: blob.id, width: '600' })
  const avatar = await fetch(user.avatar_url)
  expect(avatar.headers.get('content-type')).toBe('image/webp')
  // The head of a WebP picture holds its size.
  const bytes = Buffer.from(await avatar.arrayBuffer())
  expect([bytes.readUInt16LE(26), bytes.readUInt16LE(28)]).toEqual([256, 256])
})

test('a picture may be in the request itself, and goes away with null', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: app } = await ann.post('/api/apps', { type: 'chat', name: 'Chat', picture: dataUri })

  const { body: bare } = await ann.patch(`/api/apps/${app.id}`, { picture: null })

  expect(app.picture).toMatchObject({ media_type: 'image/png' })
  expect((await fetch(app.avatar_url)).status).toBe(200)
  expect(bare.picture).toBeUndefined()
  expect(bare.avatar_url).toBeUndefined()
})

test.each([
  ['text', 'me.png'],
  ['a data URI of text', 'data:text/plain;base64,aGVsbG8='],
  ['a data URI that is no picture', 'data:image/png;base64,aGVsbG8='],
  ['an address on this machine', 'http://127.0.0.1:9/me.png'],
  ['an address of a cloud', 'http://169.254.169.254/latest/meta-data'],
  ['an id that nobody has', '999999'],
  ['more than 5 MiB', `data:image/png;base64,${Buffer.alloc(5 * 1024 * 1024 + 1).toString('base64')}`],
])('%s is no picture', async (_what, picture) => {
  await using server = await startServer()

  const { status, body } = await server.admin.post('/api/users', { uid: 'ann', picture })

  expect(status).toBe(422)
  expect(Object.keys(body.errors)).toEqual(['picture'])
})

test("an uploaded file that is no picture, or is not the caller's, is 422", async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: text } = await upload(ann, { name: 'a.txt', content: 'x' })
  const { body: foreign } = await upload(ben, { name: 'b.png', content: png, type: 'image/png' })

  const answers = await Promise.all(
    [text, foreign].map(({ id }) => ann.post('/api/apps', { type: 'chat', picture: id })),
  )

  expect(answers.map(({ status }) => status)).toEqual([422, 422])
})

test('the address of a picture changes with the picture, and not otherwise', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const first = (await server.admin.patch(`/api/users/${ann.id}`, { picture: dataUri })).body.avatar_url

  const same = (await ann.get('/api/user')).body.avatar_url
  const second = (await server.admin.patch(`/api/users/${ann.id}`, { picture: dataUri })).body.avatar_url

  expect(same).toBe(first)
  expect(second).not.toBe(first)
  expect((await fetch(first.replace(/s=./, 's=!'))).status).toBe(404)
})

test('a BMP picture is one like any other, and shown as it is', async () => {
  await using server = await startServer()
  const bmp = bitmap({ width: 40, height: 30 })
  const { body: blob } = await upload(server.admin, { name: 'me.bmp', content: bmp, type: 'image/bmp' })

  const { body: byId } = await server.admin.post('/api/users', { uid: 'ann', picture: blob.id })
  const uri = `data:image/x-ms-bmp;base64,${bmp.toString('base64')}`
  const { body: byUri } = await server.admin.post('/api/users', { uid: 'ben', picture: uri })

  for (const picture of [blob, byId.picture, byUri.picture]) {
    expect(picture).toMatchObject({ media_type: 'image/bmp', width: '40', height: '30' })
  }
  for (const url of [blob.thumbnail_url, byId.avatar_url, byUri.avatar_url]) {
    const answer = await fetch(url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/bmp'])
    expect(Buffer.from(await answer.arrayBuffer()).equals(bmp)).toBe(true)
  }
})

const shortened: [string, (bmp: Buffer) => Buffer][] = [
  ['without its last row', bmp => bmp.subarray(0, -1)],
  ['without its head', bmp => bmp.subarray(0, 20)],
  ['without a width', bmp => bmp.fill(0, 18, 22)],
]

test.each(shortened)('a BMP file %s is no picture', async (_, shorten) => {
  await using server = await startServer()
  const content = shorten(bitmap({ width: 40, height: 30 }))

  const { body: blob } = await upload(server.admin, { name: 'me.bmp', content, type: 'image/bmp' })

  expect([blob.width, blob.thumbnail_url]).toEqual([undefined, undefined])
})

/** A BMP file of one colour with 24 bits a pixel. */
function bitmap({ width, height }: { width: number; height: number }): Buffer {
  const rowBytes = Math.ceil((width * 3) / 4) * 4
  const file = Buffer.alloc(54 + rowBytes * height, 0x40)
  file.write('BM')
  for (const [at, value] of [
    [2, file.length],
    [6, 0],
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
    [30, 0],
  ] as const)
    file.writeUInt32LE(value, at)
  file.writeUInt16LE(1, 26)
  file.writeUInt16LE(24, 28)
  return file
}

test('a picture too large to be decoded is one, without smaller versions, and nobody is shown by it', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const large = await sharp({ create: { width: 8_000, height: 7_000, channels: 3, background: '#2060c0' } })
    .png()
    .toBuffer()
  const { body: blob } = await upload(ann, { name: 'large.png', content: large, type: 'image/png' })
  const { body: library } = await ann.post('/api/apps', { type: 'files' })

  const { body: file } = await ann.post(`/api/apps/${library.id}/files`, { blob_id: blob.id })
  const refused = await ann.post('/api/apps', { type: 'chat', picture: blob.id })

  expect(blob).toMatchObject({ media_type: 'image/png', width: '8000', height: '7000' })
  expect(blob.thumbnail_url).toBeUndefined()
  const preview = await fetch(file.preview_url)
  expect([preview.headers.get('content-type'), (await preview.bytes()).length]).toEqual(['image/png', large.length])
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['picture']])
})

test('a picture that is cut off is shown as it is', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const cut = png.subarray(0, png.length / 2)
  const { body: blob } = await upload(ann, { name: 'cut.png', content: cut, type: 'image/png' })
  const { body: library } = await ann.post('/api/apps', { type: 'files' })

  const { body: file } = await ann.post(`/api/apps/${library.id}/files`, { blob_id: blob.id })

  const preview = await fetch(file.preview_url)
  expect([preview.headers.get('content-type'), (await preview.bytes()).length]).toEqual(['image/png', cut.length])
})

test('sixty pictures a minute may be fetched for a user, whatever comes of it', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const ask = (one: typeof ann | typeof server.admin) =>
    one.post('/api/apps', { type: 'files', picture: 'http://127.0.0.1:9/me.png' })

  // While they are asked for, more are allowed.
  const statuses: number[] = []
  while (statuses.length < 120 && statuses.at(-1) !== 429) statuses.push((await ask(ann)).status)

  expect(statuses.slice(0, 60)).toEqual(Array(60).fill(422))
  expect(statuses.at(-1)).toBe(429)
  expect((await ask(server.admin)).status).toBe(422)
})
