import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import sharp from 'sharp'
import { signLink } from '../../src/resources/blobs/content/links.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

async function addFile(server: Server, name: string, content: string | Uint8Array, type?: string) {
  const ann: Person = await server.person('Ann')
  const { body: app } = await ann.post('/api/apps', { type: 'files', name: 'Plans' })
  const { body: blob } = await upload(ann, { name, content, ...(type && { type }) })
  const { body: file } = await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  return { ann, app, file }
}

function toInline(name: string): string {
  return `inline; filename="${name}"; filename*=UTF-8''${name}`
}

test('a link opens its file without a credential, whole, and is the same in the next answer', async () => {
  await using server = await startServer()
  const content = randomBytes(3_000_000)
  const { ann, file } = await addFile(server, 'data.bin', content)

  const answer = await fetch(file.download_url)

  expect(answer.status).toBe(200)
  expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
  expect((await ann.get(`/api/files/${file.id}`)).body.download_url).toBe(file.download_url)
})

test('a link is valid for a day at least, and for no other file, version or form', async () => {
  await using server = await startServer()
  const { file } = await addFile(server, 'note.txt', 'x')
  const url = new URL(file.download_url)
  const expiresAt = Number(url.searchParams.get('e')) * 1000
  const changed = [
    file.download_url.replace(/s=./, 's=!'),
    file.download_url.replace(/e=\d+/, 'e=9999999999'),
    file.download_url.replace(/e=\d+/, `e=${'9'.repeat(40)}`),
    file.download_url.replace(/e=\d+&/, ''),
    file.download_url.replace('?', '/preview?'),
    file.download_url.replace(`/${file.rev}?`, `/${Number(file.rev) + 1}?`),
    file.download_url.split('?')[0]!,
  ]

  const answers = await Promise.all(changed.map(address => fetch(address)))

  expect(answers.map(({ status }) => status)).toEqual(changed.map(() => 404))
  expect(expiresAt - Date.now()).toBeGreaterThanOrEqual(24 * 3_600_000 - 1000)
  expect(expiresAt - Date.now()).toBeLessThanOrEqual(36 * 3_600_000)
})

test('a link opens nothing any more when it has expired', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { file } = await addFile(server, 'note.txt', 'x')
  const [blob] = await database.sql<{ secret: string }[]>`select secret from blobs`
  const signedAt = (time: number) => signLink(server.url, `/files/${file.id}/${file.rev}`, blob!.secret, time)

  const [valid, expired] = [signedAt(Date.now()), signedAt(Date.now() - 48 * 3_600_000)]

  expect(valid).toBe(file.download_url)
  expect((await fetch(expired)).status).toBe(404)
})

test('a link to a deleted file opens nothing', async () => {
  await using server = await startServer()
  const { ann, file } = await addFile(server, 'note.txt', 'x')

  await ann.delete(`/api/files/${file.id}`)

  expect((await fetch(file.download_url)).status).toBe(404)
})

test('a link to a file of a deleted app opens nothing', async () => {
  await using server = await startServer()
  const { ann, app, file } = await addFile(server, 'note.txt', 'x')

  await ann.delete(`/api/apps/${app.id}`)

  expect((await fetch(file.download_url)).status).toBe(404)
})

test('while an app is in the trash all links into it open nothing, on every node; restored, they open again', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const picture = await sharp({ create: { width: 900, height: 900, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const { ann, app, file } = await addFile(one, 'a.png', picture, 'image/png')
  const { body: blob } = await upload(ann, { name: 'b.png', content: picture, type: 'image/png' })
  const { body: shown } = await ann.patch(`/api/apps/${app.id}`, { picture: blob.id })
  const { body: byKey } = await one.admin.get(`/api/apps/${app.id}`)
  const links: string[] = [file.download_url, file.preview_url, file.thumbnail_url]
  links.push(shown.archive_url, byKey.archive_url, shown.avatar_url, shown.picture.thumbnail_url)
  /** The links that are answered in another way, on either node. */
  const unlike = async (expected: number, headers: Record<string, string> = {}) => {
    const everywhere = links.flatMap(link => [link, link.replace(one.url, other.url)])
    const answers = await Promise.all(everywhere.map(link => fetch(link, { headers })))
    return answers.filter(({ status }) => status !== expected).map(({ status, url }) => `${status} ${url}`)
  }
  const etag = (await fetch(file.download_url)).headers.get('etag')!
  expect(await unlike(200)).toEqual([])

  await ann.post(`/api/apps/${app.id}/trash`)

  expect(await unlike(404)).toEqual([])
  expect(await unlike(404, { 'if-none-match': etag })).toEqual([])
  expect(await unlike(404, { range: 'bytes=0-1' })).toEqual([])
  await ann.post(`/api/apps/${app.id}/restore`)
  expect(await unlike(200)).toEqual([])
})

test('a picture that is used elsewhere too stays open while one app is in the trash', async () => {
  await using server = await startServer()
  const picture = await sharp({ create: { width: 900, height: 900, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const ann = await server.person('Ann')
  const { body: blob } = await upload(ann, { name: 'a.png', content: picture, type: 'image/png' })
  const { body: app } = await ann.post('/api/apps', { type: 'files', name: 'Plans' })
  await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  await ann.post('/api/apps', { type: 'chat', name: 'Chat', picture: blob.id })

  await ann.post(`/api/apps/${app.id}/trash`)

  expect((await fetch(blob.thumbnail_url)).status).toBe(200)
})

test.each([
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
  ['bytes=-2', 206, '89', 'bytes 8-9/10'],
  ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
  ['bytes=8-99999999999999999999', 206, '89', 'bytes 8-9/10'],
  ['Bytes=-99999999999999999999', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=99999999999999999999-', 416, null, 'bytes */10'],
  ['bytes=10-', 416, null, 'bytes */10'],
  ['bytes=-0', 416, null, 'bytes */10'],
  ['bytes=5-2', 200, '0123456789', null],
  ['bytes=0-1,4-5', 200, '0123456789', null],
  ['lines=1-2', 200, '0123456789', null],
])('the range %s is answered with %i', async (range, status, body, contentRange) => {
  await using server = await startServer()
  const { file } = await addFile(server, 'digits.txt', '0123456789', 'text/plain')

  const answer = await fetch(file.download_url, { headers: { range } })

  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-range')).toBe(contentRange)
  if (body !== null) expect(await answer.text()).toBe(body)
})

test('what a client has is not sent again, and a range of something older is not mixed with it', async () => {
  await using server = await startServer()
  const { file } = await addFile(server, 'digits.txt', '0123456789', 'text/plain')
  const etag = (await fetch(file.download_url)).headers.get('etag')!

  const known = await fetch(file.download_url, { headers: { 'if-none-match': etag } })
  const older = await fetch(file.download_url, { headers: { range: 'bytes=0-1', 'if-range': '"older"' } })

  expect([known.status, await known.text()]).toEqual([304, ''])
  expect([older.status, await older.text()]).toEqual([200, '0123456789'])
})

test('HEAD tells the size and sends nothing', async () => {
  await using server = await startServer()
  const { file } = await addFile(server, 'digits.txt', '0123456789', 'text/plain')

  const answer = await fetch(file.download_url, { method: 'HEAD' })

  expect([answer.headers.get('content-length'), answer.headers.get('accept-ranges')]).toEqual(['10', 'bytes'])
})

test.each([
  ['page.html', 'text/html'],
  ['picture.svg', 'image/svg+xml'],
  ['page.xhtml', 'application/xhtml+xml'],
  ['note.txt', 'text/html; charset=utf-7'],
  ['fake.png', 'image/png'],
])('%s as %s is never shown as active content', async (name, type) => {
  await using server = await startServer()
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"><script>1</script></svg>'
  const { file } = await addFile(server, name, picture, type)

  const answer = await fetch(file.download_url)

  expect(answer.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('content-security-policy')).toContain('sandbox')
})

test('d=1 makes an attachment with its name, whatever that is', async () => {
  await using server = await startServer()
  const { file } = await addFile(server, 'Über "x" 100%.pdf', '%PDF-1.7', 'application/pdf')

  const [inline, attachment] = await Promise.all([fetch(file.download_url), fetch(`${file.download_url}&d=1`)])

  expect(inline.headers.get('content-disposition')).toMatch(/^inline/)
  const disposition = `attachment; filename="_ber _x_ 100_.pdf"; filename*=UTF-8''%C3%9Cber%20%22x%22%20100%25.pdf`
  expect(attachment.headers.get('content-disposition')).toBe(disposition)
})

test('a page of another origin may load links, with the media rules of browsers', async () => {
  await using server = await startServer()
  const { file } = await addFile(server, 'sound.mp3', 'xxxx', 'audio/mpeg')

  const answer = await fetch(file.preview_url, { headers: { origin: 'https://app.example', range: 'bytes=0-' } })

  expect(answer.status).toBe(206)
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example')
  expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
  expect(answer.headers.get('content-type')).toBe('audio/mpeg')
})

test('code and Markdown are previewed as safe HTML, text as text', async () => {
  await using server = await startServer()
  const hostile = 'let a\n<script>alert(1)</script>\n\n**bold** <img src=x onerror=alert(1)>'
  const previews = await Promise.all(
    ['a.js', 'b.md', 'c.txt'].map(async name => {
      const { file } = await addFile(server, name, hostile)
      const answer = await fetch(file.preview_url)
      return { format: file.preview_format, type: answer.headers.get('content-type'), text: await answer.text() }
    }),
  )

  const [code, markdown, text] = previews

  expect(previews.map(({ format }) => format)).toEqual(['code', 'html', 'text'])
  for (const { text } of [code!, markdown!]) expect(text).not.toMatch(/<script|<img/)
  expect(code!.text).toMatch(/^<pre><code class="hljs">/)
  expect(code!.text).toContain('<span class="hljs-keyword">let</span> a')
  expect(markdown!.text).toContain('<strong>bold</strong>')
  expect(text).toMatchObject({ type: 'text/plain; charset=utf-8', text: hostile })
})

test('a text is previewed as it reads, whatever it was saved as and wherever it is cut', async () => {
  await using server = await startServer()
  const utf16 = Buffer.from('\u{FEFF}Blå 10 €', 'utf16le')
  const files = {
    'utf-8': Buffer.from('Blå 10 €'),
    'utf-8 with a mark': Buffer.from('\u{FEFF}Blå 10 €'),
    'utf-16le': utf16,
    'utf-16be': Buffer.from(utf16).swap16(),
    'windows-1252': Buffer.from('Blå 10 \x80', 'latin1'),
    'windows-1252 that ends like utf-8': Buffer.from('Blå', 'latin1'),
    'more utf-8 than is shown': Buffer.from(`a${'é'.repeat(300_000)}`),
  }

  const previews: Record<string, string> = {}
  for (const [name, content] of Object.entries(files)) {
    const { file } = await addFile(server, `${name}.txt`, content)
    previews[name] = await (await fetch(file.preview_url)).text()
  }

  const { 'windows-1252 that ends like utf-8': short, 'more utf-8 than is shown': long, ...others } = previews
  expect(new Set(Object.values(others))).toEqual(new Set(['Blå 10 €']))
  expect(short).toBe('Blå')
  expect(long === `a${'é'.repeat(262_143)}`).toBe(true)
})

test.each([
  ['a.java', '$'],
  ['b.php', 'A'],
  ['c.ts', '_'],
])('a file %s made to take long, all %s, is shown without colours, and nobody waits for it', async (name, unit) => {
  await using server = await startServer()
  const { file } = await addFile(server, name, unit.repeat(32_768))
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()

  const texts = await Promise.all([1, 2, 3].map(async () => (await fetch(file.preview_url)).text()))

  // Half a second where this was written, if much else is done there; it was half a minute.
  expect(delay.max / 1e6).toBeLessThan(2000)
  expect(new Set(texts)).toEqual(new Set([`<pre><code class="hljs">${unit.repeat(32_768)}</code></pre>`]))
})

test('a preview that the server makes is kept, cut and saved as the file itself is', async () => {
  await using server = await startServer()
  for (const [name, content] of Object.entries({ 'a.js': 'let a', 'b.md': '# Title', 'c.txt': 'plain', 'd.md': ' ' })) {
    const { file } = await addFile(server, name, content)
    const whole = await fetch(file.preview_url)
    const text = await whole.text()
    const etag = whole.headers.get('etag')!

    const [known, part, saved] = await Promise.all([
      fetch(file.preview_url, { headers: { 'if-none-match': etag } }),
      fetch(file.preview_url, { headers: { range: 'bytes=0-1' } }),
      fetch(`${file.preview_url}&d=1`),
    ])

    expect([whole.status, whole.headers.get('content-disposition')]).toEqual([200, toInline(name)])
    expect([known.status, await known.text()]).toEqual([304, ''])
    expect([part.status, await part.text()]).toEqual(text === '' ? [416, expect.anything()] : [206, text.slice(0, 2)])
    expect(saved.headers.get('content-disposition')).toBe(toInline(name).replace('inline', 'attachment'))
  }
})

test('pictures have a thumbnail and a preview of bounded size', async () => {
  await using server = await startServer()
  const picture = await sharp({ create: { width: 3000, height: 1500, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const { file } = await addFile(server, 'wide.png', picture, 'image/png')

  const sizes = await Promise.all(
    [file.thumbnail_url, file.preview_url].map(async url => {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
      return [bytes.readUInt16LE(26), bytes.readUInt16LE(28)]
    }),
  )

  expect(file).toMatchObject({ kind: 'image', width: '3000', height: '1500', preview_format: 'image' })
  expect(sizes).toEqual([
    [512, 256],
    [2048, 1024],
  ])
})

test('a picture that is damaged has no thumbnail, and the server goes on', async () => {
  await using server = await startServer()
  const whole = await sharp({ create: { width: 900, height: 900, channels: 3, background: '#123456' } })
    .jpeg()
    .toBuffer()
  const { ann, file } = await addFile(server, 'cut.jpg', whole.subarray(0, whole.length / 2), 'image/jpeg')

  const answers = await Promise.all([1, 2, 3].map(() => fetch(file.thumbnail_url)))

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  expect((await ann.get(`/api/files/${file.id}`)).status).toBe(200)
})

test('a client that goes away in the middle of a download holds nothing up', async () => {
  await using server = await startServer()
  const { file } = await addFile(server, 'data.bin', randomBytes(20_000_000))
  const away = new AbortController()
  const slow = await fetch(file.download_url, { signal: away.signal })
  await slow.body!.getReader().read()

  away.abort()

  expect((await (await fetch(file.download_url)).arrayBuffer()).byteLength).toBe(20_000_000)
})
