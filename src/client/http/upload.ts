import type { Http } from './http.ts'
import type { Blob as StoredBlob } from './paths.ts'

/** The used part of XMLHttpRequest, which browsers and React Native have: fetch tells nothing of what is sent. */
interface Transfer {
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
  readonly status: number
  readonly responseText: string
  readonly upload: {
    addEventListener(type: 'progress', listener: (event: { loaded: number; total: number }) => void): void
  }
  addEventListener(type: 'load' | 'error', listener: () => void): void
}

/** A file of React Native, which names one instead of holding it. */
export interface NativeFile {
  uri: string
  name: string
  type: string
}

export interface UploadOptions {
  /** Default: the file's own. */
  name?: string
  /** Called with the share that is sent, from 0 to 1. */
  onProgress?: (share: number) => void
  signal?: AbortSignal
}

/** Uploads a file; its id makes it an attachment or a file of an app. */
export async function upload(http: Http, file: Blob | NativeFile, options: UploadOptions = {}): Promise<StoredBlob> {
  const { name, onProgress, signal } = options
  const form = new FormData()
  if ('uri' in file) form.append('blob', file as unknown as Blob)
  else form.append('blob', file, name ?? (file as { name?: string }).name ?? 'file')
  const hasTransfer = 'XMLHttpRequest' in globalThis && onProgress !== undefined
  const stored = await http.request<StoredBlob>('POST', '/api/blobs', {
    body: form,
    signal,
    ...(hasTransfer && { fetch: toTransfer(onProgress) }),
  })
  onProgress?.(1)
  return stored
}

/** fetch, with progress. */
function toTransfer(onProgress: (share: number) => void): typeof fetch {
  return (url, { method = 'POST', headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const transfer = new (globalThis as unknown as { XMLHttpRequest: new () => Transfer }).XMLHttpRequest()
      transfer.open(method, String(url as string))
      for (const [name, value] of Object.entries(headers as Record<string, string>))
        transfer.setRequestHeader(name, value)
      transfer.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total))
      transfer.addEventListener('load', () => {
        const { status, responseText } = transfer
        resolve(new Response(responseText, { status, headers: toHeaders(transfer.getAllResponseHeaders()) }))
      })
      transfer.addEventListener('error', () => reject(new TypeError('The upload was cut off.')))
      signal?.addEventListener('abort', () => {
        transfer.abort()
        reject(signal.reason as Error)
      })
      transfer.send(body)
    })
}

function toHeaders(text: string): Headers {
  const headers = new Headers()
  for (const line of text.trim().split('\r\n')) {
    const end = line.indexOf(':')
    if (end > 0) headers.append(line.slice(0, end), line.slice(end + 1).trim())
  }
  return headers
}
