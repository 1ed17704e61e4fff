import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/database.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { startServer } from '../support/server.ts'
import { keptIn, upload } from '../support/uploads.ts'

const png = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c04020' } })
    .png()
    .toBuffer()

test('an uploaded file becomes a blob with its name, type and size', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { status, body } = await upload(ann, { name: 'Überblick 2026.txt', content: 'hello', type: 'text/plain' })

  expect(status).toBe(201)
  expect(body).toEqual({ id: expect.any(String), name: 'Überblick 2026.txt', media_type: 'text/plain', size: '5' })
  expect((await ann.get(`/api/blobs/${body.id}`)).body).toEqual(body)
})

test('a picture is looked into: its type, width and height are those of its content', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { body } = await upload(ann, { name: 'photo.jpg', content: await png(40, 30), type: 'image/jpeg' })

  expect(body).toMatchObject({ media_type: 'image/png', width: '40', height: '30' })
  expect(body.thumbnail_url).toMatch(/^http.*\/content\/blobs\/\d+\/thumbnail\?e=\d+&s=[\w-]+$/)
})

test.each([
  ['text that says it is a picture', Buffer.from('<script>alert(1)</script>')],
  ['a picture that is cut off in its head', Buffer.from('89504e470d0a1a0a0000000d', 'hex')],
  ['noise', randomBytes(5000)],
])('%s is kept as bytes, without a thumbnail', async (_what, content) => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { status, body } = await upload(ann, { name: 'x.png', content, type: 'image/png' })

  expect(status).toBe(201)
  expect(body.media_type).toBe('application/octet-stream')
  expect(body.thumbnail_url).toBeUndefined()
})

test('a picture that would take gigabytes to decode gets no thumbnail', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const bomb = await sharp({
    create: { width: 16_000, height: 16_000, channels: 3, background: '#fff' },
    limitInputPixels: false,
  })
    .png({ compressionLevel: 9 })
    .toBuffer()

  const { status, body } = await upload(ann, { name: 'bomb.png', content: bomb, type: 'image/png' })

  expect(status).toBe(201)
  expect(body.thumbnail_url).toBeUndefined()
})

test('the type of a file follows from its name where the sender does not say', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { body } = await upload(ann, { name: 'plan.pdf', content: '%PDF-1.7', type: 'application/octet-stream' })

  expect(body.media_type).toBe('application/pdf')
})

test.each([
  ['plan.pdf', 'application/pdf'],
  ['notes.txt', 'text/plain'],
  ['page.html', 'text/plain'],
  ['README', 'text/plain'],
])('a part that says nothing of its type, for %s, is %s', async (name, type) => {
  await using server = await startServer()
  const head = `--b\r\nContent-Disposition: form-data; name="blob"; filename="${name}"\r\n\r\n`
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'multipart/form-data; boundary=b' }

  const answer = await fetch(`${server.url}/api/blobs`, { method: 'POST', headers, body: `${head}x\r\n--b--\r\n` })

  expect(((await answer.json()) as { media_type: string }).media_type).toBe(type)
})

test('a path as name is cut to its last part', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { body } = await upload(ann, { name: '../../etc/C:\\temp\\note.txt', content: 'x', type: 'text/plain' })

  expect(body.name).toBe('note.txt')
})

test.each([
  ['no part at all', (form: FormData) => form],
  ['a part of another name', (form: FormData) => (form.append('file', new Blob(['x']), 'a.txt'), form)],
  ['an empty file', (form: FormData) => (form.append('blob', new Blob([]), 'a.txt'), form)],
  ['a part without a file name', (form: FormData) => (form.append('blob', 'text'), form)],
  [
    'two files',
    (form: FormData) => {
      form.append('blob', new Blob(['x']), 'a.txt')
      form.append('blob', new Blob(['y']), 'b.txt')
      return form
    },
  ],
])('%s is 422, and nothing of it is kept', async (_what, fill) => {
  await using database = await createDatabase()
  await using folder = createDirectory()
  await using server = await startServer({ DATABASE_URL: database.url, DATA_DIR: folder.path })

  const answer = await fetch(`${server.url}/api/blobs`, {
    method: 'POST',
    body: fill(new FormData()),
    headers: { authorization: `Bearer ${server.key}` },
  })

  expect(answer.status).toBe(422)
  expect(Object.keys(((await answer.json()) as { errors: object }).errors)).toEqual(['blob'])
  expect(keptIn(join(folder.path, 'blobs'))).toEqual([])
  expect(await database.sql`select * from orphaned_bytes`).toHaveLength(0)
})

test('what is no form is 422', async () => {
  await using server = await startServer()

  const { status, body } = await server.admin.post('/api/blobs', { blob: 'text' })

  expect(status).toBe(422)
  expect(body.errors).toHaveProperty('blob')
})

test.each([
  ['in its file', 'conten'],
  ['after its file', 'content\r\n'],
])('a form that ends %s is 422, and nothing of it is kept', async (_where, rest) => {
  await using folder = createDirectory()
  await using server = await startServer({ DATA_DIR: folder.path })
  const head = '--x\r\nContent-Disposition: form-data; name="blob"; filename="a.txt"\r\n\r\n'

  const answer = await fetch(`${server.url}/api/blobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'multipart/form-data; boundary=x' },
    body: head + rest,
  })

  expect(answer.status).toBe(422)
  expect(keptIn(join(folder.path, 'blobs'))).toEqual([])
})

test('a request that says it is larger than 128 MiB is 413 before it is sent', async () => {
  await using server = await startServer()

  const answer = await sendHead(server.url, server.key, 129 * 1024 * 1024)

  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
})

test('strangers cannot upload', async () => {
  await using server = await startServer()
  const form = new FormData()
  form.append('blob', new Blob(['x']), 'a.txt')

  const answer = await fetch(`${server.url}/api/blobs`, { method: 'POST', body: form })

  expect(answer.status).toBe(401)
})

test('an upload that the client breaks off leaves nothing behind', async () => {
  await using database = await createDatabase()
  await using folder = createDirectory()
  await using server = await startServer({ DATABASE_URL: database.url, DATA_DIR: folder.path })
  const incoming = join(folder.path, 'blobs', 'incoming')
  const broken = new AbortController()

  const sending = fetch(`${server.url}/api/blobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'multipart/form-data; boundary=x' },
    body: endlessForm(),
    duplex: 'half',
    signal: broken.signal,
  } as RequestInit)
  await eventually(() => expect(keptIn(incoming)).toHaveLength(1))
  broken.abort()
  await sending.catch(() => {})

  await eventually(async () => {
    expect(keptIn(join(folder.path, 'blobs'))).toEqual([])
    expect(await database.sql`select * from orphaned_bytes`).toHaveLength(0)
  })
})

test('100 MiB pass through the server in 16 MiB of memory, unchanged; a byte more is 422', async () => {
  await using folder = createDirectory()
  await using database = await createDatabase()
  await using program = await startProgram(folder, { DATABASE_URL: database.url, LOG_LEVEL: 'error' })
  const content = randomBytes(100 * 1024 * 1024)
  const part = new Blob([content])
  await upload(program.admin, { name: 'first.bin', content: new Blob([content.subarray(0, 1024 * 1024)]) })
  const before = residentBytes(program.pid)
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, residentBytes(program.pid))), 5)

  const { status, body } = await upload(program.admin, { name: 'large.bin', content: part })
  clearInterval(watch)

  expect(status).toBe(201)
  expect(body.size).toBe(String(content.length))
  expect((peak - before) / 1024 / 1024).toBeLessThan(16)
  expect(largest(join(folder.path, 'blobs')).hash).toBe(hashOf(content))
  const tooLarge = await upload(program.admin, { name: 'larger.bin', content: new Blob([content, 'x']) })
  expect(tooLarge.status).toBe(422)
})

test('a blob is for its uploader, and not for others who can guess its number', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body } = await upload(ann, { name: 'note.txt', content: 'x' })

  const answers = await Promise.all([ann, ben, server.admin].map(caller => caller.get(`/api/blobs/${body.id}`)))

  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200])
})

test('a file that is kept elsewhere is named without being fetched', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const { status, body } = await ann.post('/api/blobs/external', {
    provider: 'Google Drive',
    link: 'https://drive.example/view/1',
    name: 'Budget.xlsx',
    size: '1200',
    raw: { id: 1, kind: 'drive#file' },
  })

  expect(status).toBe(201)
  expect(body).toMatchObject({ name: 'Budget.xlsx', size: '1200', raw: '{"id":1,"kind":"drive#file"}' })
})

test.each([
  ['provider', { provider: '' }],
  ['link', { link: 'javascript:alert(1)' }],
  ['link', { link: 'ftp://files.example/1' }],
  ['name', { name: '   ' }],
  ['size', { size: -1 }],
  ['embed', { embed: 'data:text/html,x' }],
])('a file kept elsewhere is 422 for a bad %s', async (field, change) => {
  await using server = await startServer()

  const { status, body } = await server.admin.post('/api/blobs/external', {
    provider: 'Box',
    link: 'https://box.example/1',
    name: 'a.txt',
    size: 1,
    ...change,
  })

  expect(status).toBe(422)
  expect(Object.keys(body.errors)).toEqual([field])
})

test('naming a file twice with one Idempotency-Key makes one blob', async () => {
  await using server = await startServer()
  const file = { provider: 'Box', link: 'https://box.example/1', name: 'a.txt', size: 1 }

  const [first, second] = [
    await server.admin.post('/api/blobs/external', file, { 'idempotency-key': 'once' }),
    await server.admin.post('/api/blobs/external', file, { 'idempotency-key': 'once' }),
  ]

  expect(second.body).toEqual(first.body)
})

function endlessForm(): ReadableStream<Uint8Array> {
  const head = '--x\r\nContent-Disposition: form-data; name="blob"; filename="a.bin"\r\n\r\n'
  return new ReadableStream({
    start: controller => controller.enqueue(Buffer.from(head + 'a'.repeat(500_000))),
  })
}

function largest(folder: string): { hash: string } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const contents = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
  return { hash: hashOf(contents.reduce((a, b) => (a.length > b.length ? a : b))) }
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function sendHead(url: string, key: string, lengthBytes: number): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.setEncoding('utf8').once('data', text => {
      socket.destroy()
      resolve(String(text))
    })
    socket.once('error', reject)
    socket.write(
      `POST /api/blobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${lengthBytes}\r\n\r\n`,
    )
  })
}
