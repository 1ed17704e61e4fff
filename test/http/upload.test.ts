import { createHash, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Reads slower than anybody sends. */
const slow = route({
  method: 'POST',
  path: '/api/uploads',
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
