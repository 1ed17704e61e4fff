import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { Download } from '../../src/http/answer/download.ts'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'
import { requestText, Wire } from '../support/wire.ts'

const download = (source: () => AsyncIterable<Uint8Array>) =>
  route('GET /api/download', {
    summary: 'Give ten bytes',
    auth: 'none',
    isDownload: true,
    replies: { 200: null },
    handle: () => reply(200, new Download({ sizeBytes: 10, etag: null, open: () => Readable.from(source()) })),
  })

async function* short() {
  yield Buffer.from('01234')
}

async function* broken() {
  yield* short()
  throw new Error('the disk is gone')
}

test.each([
  ['ends too early', short],
  ['breaks', broken],
])('a download whose source %s ends its connection, so that nobody takes it for whole', async (_, source) => {
  await using edge = await startEdge([download(source)])
  const wire = await Wire.open(edge.port)

  await wire.send(requestText('GET', '/api/download'))

  expect(await wire.closed()).toBe('closed')
  expect(edge.edge.open).toBe(0)
})
