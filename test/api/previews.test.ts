import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { showMarkdown } from '../../src/resources/files/content/preview.ts'
import type { FileBlob } from '../../src/resources/files/schema.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { Previews } from '../../src/media/previews.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { startServer, type Person } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const hostile = '<script>alert(1)</script>\n<img src=x onerror=alert(1)> &amp;\n'
const harmless = '&lt;script&gt;alert(1)&lt;/script&gt;\n&lt;img src=x onerror=alert(1)&gt; &amp;amp;\n'
const toCode = (html: string) => `<pre><code class="hljs">${html}</code></pre>`

async function addFile(ann: Person, name: string, content: string) {
  const { body: app } = await ann.post('/api/apps', { type: 'files', name })
  const { body: blob } = await upload(ann, { name, content })
  return (await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })).body
}

const previewOf = async ({ preview_url }: { preview_url: string }) => (await fetch(preview_url)).text()

test('code without colours is as safe: of a language that has none, and where there is too much of it', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const times = Math.ceil(40_000 / hostile.length)

  const strange = await previewOf(await addFile(ann, 'a.cgi', hostile))
  const long = await previewOf(await addFile(ann, 'b.html', hostile.repeat(times)))

  expect(strange).toBe(toCode(harmless))
  expect(long).toBe(toCode(harmless.repeat(times)))
})

test('a file that was renamed has the colours of its new language', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const file = await addFile(ann, 'a.py', '# let a')

  const before = await previewOf(file)
  const after = await previewOf((await ann.patch(`/api/files/${file.id}`, { name: 'a.js' })).body)

  expect(before).toBe(toCode('<span class="hljs-comment"># let a</span>'))
  expect(after).toBe(toCode('# <span class="hljs-keyword">let</span> a'))
})

test('Markdown that cannot be made is shown as it was written, as safe and no further', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const bytes = new DiskBytes(folder)
  // A thread that does not start makes nothing.
  const previews = new Previews(new URL('file:///nowhere.ts'), createLog('error'))
  const shown = hostile.padEnd(64 * 1024, 'x')
  const text = `${shown}and more`
  await bytes.put('plan', pieces(text))
  const blob = { id: 1, key: 'plan', size: text.length } as FileBlob
  // What is not missing asks nothing of the database.
  const parts = {
    sql: openSql({ url: 'postgres://127.0.0.1:1/none', connections: 1, statementTimeoutMs: 1000 }),
    bytes,
    previews,
  }

  expect(await showMarkdown(blob, parts)).toBe(toCode(shown.replace(hostile, harmless)))
  await previews.close()
  rmSync(folder, { recursive: true })
})

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
