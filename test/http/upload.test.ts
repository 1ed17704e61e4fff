import { createHash, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Exchange } from '../../src/http/server/exchange.ts'
import { reply, route } from '../../src/http/route.ts'
import { Unknown } from '../../src/http/request/names/unknown.ts'
import { Upload } from '../../src/http/request/body/upload.ts'
import { startEdge } from '../support/edge.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Reads slower than anybody sends. */
const slow = route('POST /api/uploads', {
  summary: 'Give the digest of an upload',
  auth: 'none',
  uploadLimitBytes: 64 * 1024 * 1024,
  replies: { 200: z.object({ digest: z.string() }) },
  async handle({ upload }) {
    const digest = createHash('sha256')
    for await (const piece of upload!) {
      digest.update(piece)
      if (piece.length > 0) await new Promise(resolve => setImmediate(resolve))
    }
    return reply(200, { digest: digest.digest('hex') })
  },
})

test('an upload that arrives faster than it is read is read in its order', async () => {
  await using edge = await startEdge([slow])
  const body = randomBytes(32 * 1024 * 1024)

  const answer = await fetch(`${edge.url}/api/uploads`, { method: 'POST', body })

  expect(await answer.json()).toEqual({ digest: createHash('sha256').update(body).digest('hex') })
})

test('an upload that finds no room for what waits is 503, and the next one is as ever', async () => {
  await using edge = await startEdge([slow])
  const body = new Uint8Array(16 * 1024 * 1024)
  const send = () => fetch(`${edge.url}/api/uploads`, { method: 'POST', body })

  vi.stubEnv('TMPDIR', join(tmpdir(), 'parley-that-is-not-there'))
  const refused = await send()
  vi.unstubAllEnvs()
  const accepted = await send()

  expect([refused.status, accepted.status]).toEqual([503, 200])
  const [entry] = edge.logged
  expect(entry).toMatchObject({ level: 'warn', error: { cause: { message: expect.stringMatching(/^ENOENT/) } } })
})

/** What uWebSockets.js is asked to do with the connection of an upload, and a way to have bytes arrive on it. */
function connect() {
  const asked: string[] = []
  let arrive: Parameters<HttpResponse['onData']>[0] = () => {}
  const res = {
    onData: (handler: typeof arrive) => void (arrive = handler),
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
    onAborted: () => {},
    cork: (write: () => void) => write(),
    writeStatus: () => {},
    endWithoutBody: () => asked.push('end'),
  }
  const req = { getCaseSensitiveMethod: () => 'POST', getUrl: () => '/', getQuery: () => '', getHeader: () => '' }
  const exchange = new Exchange(res as unknown as HttpResponse, req as unknown as HttpRequest, {
    isEnding: false,
    isWithdrawn: false,
    insteadOf: answer => answer,
    onEnd: () => {},
    onLinger: () => {},
  })
  const upload = new Upload(exchange, 1024 * 1024, new Unknown('usual'))
  exchange.detach()
  return { asked, upload, arrive: (isLast: boolean) => arrive(new ArrayBuffer(300 * 1024), isLast) }
}

// To resume starts a clock of 10 s in uWebSockets.js, which only the last piece of the body stops.
test('a connection that had to wait is resumed for more of the upload, and else only for the answer', async () => {
  const { asked, upload, arrive } = connect()
  const reader = upload[Symbol.asyncIterator]()
  const read = async (pieces: number) => {
    for (let i = 0; i < pieces; i++) await reader.next()
  }

  arrive(false)
  await read(3)
  expect(asked).toEqual(['pause', 'resume'])
  arrive(false)
  arrive(true)
  await read(7)
  expect(asked).toEqual(['pause', 'resume', 'pause'])
  upload.answer({ status: 204 })
  expect(asked).toEqual(['pause', 'resume', 'pause', 'resume', 'end'])
})
