import type { ChildProcess } from 'node:child_process'
import * as uws from 'uWebSockets.js'
import { endWithParent, forkApart } from './apart.ts'

/**
 * uWebSockets.js with nothing behind it: what this machine, its loopback and the load generator allow at best.
 * GET answers with a fixed body, POST publishes its body to everybody at /api/realtime.
 */
function serve(body: string, tell: (port: number) => void): void {
  const app = uws.App()
  app.ws('/api/realtime', {
    maxBackpressure: 1024 * 1024,
    closeOnBackpressureLimit: true,
    open: socket => void socket.subscribe('all'),
  })
  app.get('/*', res => {
    res.cork(() => {
      res.writeHeader('Content-Type', 'application/json; charset=utf-8')
      res.end(body)
    })
  })
  app.post('/*', res => {
    const chunks: Buffer[] = []
    res.onAborted(() => {})
    res.onData((chunk, isLast) => {
      chunks.push(Buffer.from(Buffer.from(chunk)))
      if (!isLast) return
      app.publish('all', Buffer.concat(chunks))
      res.cork(() => res.writeStatus('204 No Content').endWithoutBody())
    })
  })
  app.listen('127.0.0.1', 0, socket => {
    if (socket) tell(uws.us_socket_local_port(socket))
  })
}

/** The bare server in a process of its own, as its parent sees it. */
export class Bare {
  readonly port: number
  readonly pid: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    this.pid = child.pid!
  }

  static start(body = ''): Promise<Bare> {
    const child = forkApart(import.meta.filename)
    return new Promise((resolve, reject) => {
      child.once('message', port => resolve(new Bare(child, Number(port))))
      child.once('exit', code => reject(new Error(`The bare server ended with ${code}`)))
      child.send({ body })
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

if (import.meta.main) {
  endWithParent()
  process.once('message', ({ body }: { body: string }) => serve(body, port => process.send!(port)))
}
