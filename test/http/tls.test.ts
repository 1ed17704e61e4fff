import { once } from 'node:events'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'

/** A certificate for localhost and its key, for tests alone. */
const certificate = join(import.meta.dirname, '../delivery/self-signed.pem')

const whereto = route('GET /api/whereto', {
  summary: 'Show where the request was sent',
  auth: 'none',
  replies: { 200: z.object({}) },
  handle: ({ origin }) => reply(200, { origin }),
})

test('with a certificate HTTPS is served, and named in absolute URLs', async () => {
  await using edge = await startEdge([whereto], { settings: { tls: { certFile: certificate, keyFile: certificate } } })

  const asked = request(`${edge.url}/api/whereto`, { rejectUnauthorized: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]

  expect(answer.statusCode).toBe(200)
  expect(JSON.parse(await text(answer))).toEqual({ origin: edge.url })
  asked.destroy()
})

test('a certificate that cannot be used is named', async () => {
  const tls = { certFile: certificate, keyFile: import.meta.filename }

  await expect(startEdge([whereto], { settings: { tls } })).rejects.toThrow(
    `${certificate} and ${import.meta.filename} cannot be used for HTTPS`,
  )
})
