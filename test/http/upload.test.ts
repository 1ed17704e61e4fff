import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Reads slower than anybody sends. */
const slow = route({
  method: 'POST',
  path: '/api/uploads',
  summary: 'Measure an upload',
  auth: 'none',
  uploadLimitBytes: 64 * 1024 * 1024,
  replies: { 204: null },
  async handle({ upload }) {
    for await (const piece of upload!) {
      if (piece.length > 0) await new Promise(resolve => setImmediate(resolve))
    }
    return reply(204)
  },
})

test('an upload that finds no room for what waits is 503, and the next one is as ever', async () => {
  await using edge = await startEdge([slow])
  const body = new Uint8Array(16 * 1024 * 1024)
  const send = () => fetch(`${edge.url}/api/uploads`, { method: 'POST', body })

  vi.stubEnv('TMPDIR', join(tmpdir(), 'parley-that-is-not-there'))
  const refused = await send()
  vi.unstubAllEnvs()
  const accepted = await send()

  expect([refused.status, accepted.status]).toEqual([503, 204])
  const [entry] = edge.logged
  expect(entry).toMatchObject({ level: 'warn', error: { cause: { message: expect.stringMatching(/^ENOENT/) } } })
})
