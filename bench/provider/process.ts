import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithParent } from '../apart.ts'
import type { FromProvider, ToProvider } from './provider.ts'

/** A model that is slow says a word this often. A guess at what a busy local server does to the last in its queue. */
const wordMs = 5_000

const held = new Map<ServerResponse, NodeJS.Timeout>()
let isHolding = false

const tell = (message: FromProvider) => process.send?.(message)

const record = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`

function end(response: ServerResponse): void {
  clearInterval(held.get(response))
  held.delete(response)
  response.end(`${record('done.', 'stop')}data: [DONE]\n\n`)
}

const server = createServer((request, response) => {
  const atMs = Number(process.hrtime.bigint()) / 1e6
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (isHolding) {
      response.write(record('word '))
      held.set(
        response,
        setInterval(() => response.write(record('word ')), wordMs),
      )
      response.once('close', () => {
        clearInterval(held.get(response))
        held.delete(response)
      })
    } else end(response)
    tell({ arrivedMs: atMs, open: held.size })
  })
})

process.on('message', ({ holds }: ToProvider) => {
  isHolding = holds
  if (!holds) for (const response of held.keys()) end(response)
})
endWithParent()
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }))
