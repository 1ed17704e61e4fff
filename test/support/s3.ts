import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As much of an S3-compatible store as the server uses. It refuses what is not signed (Signature Version 4). */
export async function startS3() {
  const keys = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
  const region = 'us-east-1'
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Map<number, Buffer>>()
  let begun = 0
  let isOverloaded = false
  const server = createServer((request, response) => {
    void receive(request).then(body => {
      if (isOverloaded) return answer(response, 503, toError('SlowDown'))
      if (!isSigned(request, body, keys.secretAccessKey)) return answer(response, 403, toError('SignatureDoesNotMatch'))
      respond(request, body, response)
    })
  })

  function respond(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url!, 'http://s3')
    const id = searchParams.get('uploadId')
    const found = objects.get(pathname)
    switch (request.method) {
      case 'PUT':
        if (id === null) objects.set(pathname, body)
        else uploads.get(id)?.set(Number(searchParams.get('partNumber')), body)
        return answer(response, 200, '', { etag: '"part"' })
      case 'POST':
        if (searchParams.has('delete')) {
          const bucket = pathname.split('/')[1]
          for (const [, key] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) objects.delete(`/${bucket}/${key}`)
          return answer(response, 200, '<DeleteResult/>')
        }
        if (searchParams.has('uploads')) {
          const created = `upload-${++begun}`
          uploads.set(created, new Map())
          return answer(
            response,
            200,
            `<InitiateMultipartUploadResult><UploadId>${created}</UploadId></InitiateMultipartUploadResult>`,
          )
        }
        objects.set(pathname, Buffer.concat([...uploads.get(id!)!].sort(([a], [b]) => a - b).map(([, part]) => part)))
        uploads.delete(id!)
        return answer(response, 200, '<CompleteMultipartUploadResult/>')
      case 'DELETE':
        uploads.delete(id!)
        return answer(response, 204)
    }
    if (found === undefined) return answer(response, 404, request.method === 'HEAD' ? '' : toError('NoSuchKey'))
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const part = first === undefined ? found : found.subarray(Number(first), Number(last) + 1)
    answer(response, first === undefined ? 200 : 206, part, { 'content-length': String(part.length) })
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: 'uploads',
    region,
    keys,
    /** Uploads in parts that were neither completed nor aborted: nobody sees them, and they are paid for. */
    get openUploads() {
      return uploads.size
    },
    /** From now on it answers everybody that it has too much to do. */
    overload: () => void (isOverloaded = true),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function isSigned(request: IncomingMessage, body: Buffer, secret: string): boolean {
  const form = /Credential=[^/]+\/(\d+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)/
  const [, day, region, names, signature] = form.exec(request.headers.authorization ?? '') ?? []
  if (day === undefined || region === undefined || names === undefined) return false
  const hash = String(request.headers['x-amz-content-sha256'])
  if (/^[0-9a-f]{64}$/.test(hash) && hash !== sha256(body)) return false
  const { pathname, searchParams } = new URL(request.url!, 'http://s3')
  const query = [...searchParams]
    .map(pair => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&')
  const headers = names
    .split(';')
    .map(name => `${name}:${String(request.headers[name]).trim()}\n`)
    .join('')
  const canonical = [request.method, pathname, query, headers, names, hash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>((k, part) => hmac(k, part), `AWS4${secret}`)
  return hmac(key, text).toString('hex') === signature
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}

async function receive(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray())
}

function toError(code: string): string {
  return `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
}

function answer(response: ServerResponse, status: number, body: string | Buffer = '', headers = {}): void {
  response.writeHead(status, headers).end(body)
}
