import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'

interface Booking {
  room: string
  at: string
}

const bookingSchema = fromJsonSchema<Booking>({
  type: 'object',
  properties: { room: { type: 'string' }, at: { type: 'string', description: 'As in 15:00' } },
  required: ['room', 'at'],
})

/** A tool server (MCP) of the demo: it books rooms, in memory. */
export function createTools(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const booked = new Set<string>()
  const { fetch } = createMcpHandler(() => {
    const server = new McpServer({ name: 'front-desk', version: '1.0.0' })
    const described = { description: 'Books a room for a meeting', inputSchema: bookingSchema }
    server.registerTool('book_room', described, async ({ room, at }) => ({
      content: [{ type: 'text', text: book(booked, `${room} at ${at}`) }],
    }))
    return server
  })
  return async (request, response) => {
    const body = await buffer(request)
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    const answer = await fetch(
      new Request(`http://localhost${request.url ?? '/'}`, {
        method: request.method ?? 'GET',
        headers,
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
}

function book(booked: Set<string>, wish: string): string {
  if (booked.has(wish)) return `${wish} is taken.`
  booked.add(wish)
  return `${wish} is booked.`
}
