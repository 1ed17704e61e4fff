import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { isOpen, requireOpen, type ShownApp } from '../client-call.ts'
import type { ShownFile } from '../file-text.ts'
import { cite, type Listed, type ShownItem } from './said.ts'
import { Limit, Note, note, reading, Ref, writing } from './tool.ts'

type File = ShownFile & { app: ShownApp; created_by: { name: string }; created_at: string }

const Entry = z.object({
  id: z.int(),
  name: z.string(),
  size: z.int(),
  author: z.string(),
  at: z.string(),
  cite: z.string(),
})

function toEntry({ id, name, size, app, created_by, created_at }: File) {
  return { id, name, size, author: created_by.name, at: created_at, cite: cite(app.id, 'file', id) }
}

const listFiles = reading({
  name: 'list_files',
  description: 'List files of files apps, newest first.',
  input: z.object({
    app: Ref.optional(),
    q: z.string().optional().describe('Beginnings of words of the name'),
    skip: z.int().min(0).optional(),
    limit: Limit(100, 25),
  }),
  output: z.object({ files: z.array(Entry), count: z.int() }),
  async run({ app, q, skip, limit }, call) {
    const path = app === undefined ? '/api/files' : `/api/apps/${(await call.app(app)).id}/files`
    const query = { q, skip, take: limit, order_by: 'id desc' }
    const { data = [], count } = await call.get<Listed<File>>(path, query)
    return { files: data.filter(file => isOpen(file.app)).map(toEntry), count }
  },
})

/** Characters of one part of a text: some 5,000 words. A guess. */
const part = 30_000

const readFile = reading({
  name: 'read_file',
  description: 'Read the text of a file or attachment: text, code, HTML, PDF, Word, Excel and PowerPoint.',
  input: z.object({ file: z.int(), from: z.int().min(0).default(0).describe('Characters to pass over') }),
  output: z.object({
    note: Note,
    name: z.string(),
    author: z.string(),
    at: z.string(),
    cite: z.string(),
    text: z.string(),
    length: z.int().describe('Characters of the whole text'),
  }),
  async run({ file: id, from }, call, { texts, signal }) {
    const file = await call.get<File>(`/api/files/${id}`)
    requireOpen(file.app)
    const text = await texts.read(file, call, signal)
    const { name, author, at, cite } = toEntry(file)
    return { note, name, author, at, cite, text: text.slice(from, from + part).toWellFormed(), length: text.length }
  },
})

const addFile = writing({
  name: 'add_file',
  description: 'Add a text file, as the user: to a files app, or attached to a new message or post.',
  input: z.object({ app: Ref, name: z.string().describe('Such as notes.md'), text: z.string().max(1_000_000) }),
  output: z.object({ id: z.int(), cite: z.string() }),
  isIdempotent: false,
  async run({ app: ref, name, text }, call) {
    const app = await call.app(ref)
    const blob = await call.upload<{ id: number }>('/api/blobs', toForm(name, text))
    const kind = app.kind === 'files' ? 'file' : app.kind === 'posts' ? 'post' : 'message'
    const body = kind === 'file' ? { blob_id: blob.id } : { blobs: [blob.id] }
    const { id } = await call.post<ShownItem>(`/api/apps/${app.id}/${kind}s`, body)
    return { id, cite: cite(app.id, kind, id) }
  },
})

/** A multipart form with one file (RFC 7578). */
function toForm(name: string, text: string) {
  const boundary = randomUUID()
  const fileName = name.replace(/[\r\n"]/g, ' ')
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="blob"; filename="${fileName}"\r\n\r\n`
  const form = Buffer.from(`${head}${text}\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    async *[Symbol.asyncIterator]() {
      yield form
    },
  }
}

export const fileTools = [listFiles, readFile, addFile]
