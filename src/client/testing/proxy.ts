import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A network between clients and a server, which can fail as networks do. */
export interface FaultProxy extends AsyncDisposable {
  /** Where clients find the server. */
  url: string
  /** Breaks every connection, at whatever byte it is; new ones can be made at once. */
  cut(): void
  /** Breaks every connection, and refuses new ones until `restore`. */
  lose(): void
  /** Lets no more bytes through, in either direction, until `restore`; connections stay open, and neither side is told. */
  silence(): void
  /** Lets connections be made again. Those that fell silent have been forgotten meanwhile: they break. */
  restore(): void
  close(): Promise<void>
}

/** Stands between clients and the server at `url`, which may be another one for each connection. */
export async function createFaultProxy(url: string | (() => string)): Promise<FaultProxy> {
  const lines = new Set<{ near: Socket; far: Socket }>()
  let state: 'there' | 'lost' | 'silent' = 'there'
  const server = createServer(near => {
    if (state === 'lost') return void near.resetAndDestroy()
    const { hostname, port } = new URL(typeof url === 'string' ? url : url())
    const far = connect(Number(port), hostname)
    const line = { near, far }
    const end = () => {
      near.destroy()
      far.destroy()
      lines.delete(line)
    }
    lines.add(line)
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    if (state === 'there') near.pipe(far).pipe(near)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const { near, far } of lines) for (const socket of [near, far]) socket.destroy()
  }
  const close = async () => {
    cut()
    server.close()
    await once(server, 'close')
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    lose() {
      state = 'lost'
      cut()
    },
    silence() {
      state = 'silent'
      for (const { near, far } of lines) for (const socket of [near, far]) socket.unpipe().pause()
    },
    restore() {
      if (state === 'silent') cut()
      state = 'there'
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
