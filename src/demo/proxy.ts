import { request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** Passes a request on to the server behind, with the host that the browser named: links in answers lead here again. */
export function passOn(server: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url } = incoming
  const outgoing = request(new URL(url ?? '/', server), { method, headers }, answer => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', () => response.writableEnded || response.writeHead(502).end())
  incoming.pipe(outgoing)
}

/** Passes WebSockets on. */
export function passOnSockets(web: Server, server: string): void {
  web.on('upgrade', (incoming, socket, head) => {
    const { headers, url } = incoming
    const outgoing = request(new URL(url ?? '/', server), { headers })
    const end = () => void socket.destroy()
    outgoing.on('error', end).on('response', end)
    outgoing.on('upgrade', ({ rawHeaders }, far, rest) => {
      const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? `${name}: ${rawHeaders[index + 1]}` : []))
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      socket.write(rest)
      far.write(head)
      far.on('error', end).on('close', end)
      socket.on('error', () => far.destroy()).on('close', () => far.destroy())
      far.pipe(socket).pipe(far)
    })
    outgoing.end()
  })
}
