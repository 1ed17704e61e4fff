import { existsSync, readdirSync } from 'node:fs'
import { markerName } from '../../src/bytes/blob-folder.ts'
import type { Answer, Client } from './client.ts'

interface File {
  name: string
  content: string | Uint8Array | Blob
  /** Default: what says nothing. */
  type?: string
}

/** Uploads a file the way a browser does. */
export function upload(by: Client, { name, content, type = 'application/octet-stream' }: File): Promise<Answer> {
  const form = new FormData()
  const part = content instanceof Uint8Array ? Uint8Array.from(content) : content
  form.append('blob', new Blob([part], { type }), name)
  return by.post('/api/blobs', form)
}

/** The names of the files that a folder of uploads holds, at any depth. */
export function keptIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap(entry =>
    entry.isFile() && entry.name !== markerName ? [entry.name] : [],
  )
}
