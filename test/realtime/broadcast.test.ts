import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { ClientOrigin } from '../../src/realtime/sessions/client-origins.ts'
import { findCodec, type Frame } from '../../src/realtime/protocols/protocol.ts'
import { Session, type Socket } from '../../src/realtime/sessions/session.ts'
import { broadcast } from '../../src/realtime/broadcast.ts'

/** A socket whose other end the test holds; sending fails where `failure` says so. */
class Ear implements Socket {
  readonly frames: Frame[] = []
  readonly ends: number[] = []
  readonly #failure: Error | null

  constructor(failure: Error | null = null) {
    this.#failure = failure
  }

  send(message: Uint8Array): number {
    if (this.#failure !== null) throw this.#failure
    this.frames.push(JSON.parse(Buffer.from(message).toString()))
    return 1
  }
  getBufferedAmount = () => 0
  subscribe = () => true
  unsubscribe = () => true
  cork = (run: () => void) => run()
  end = (code: number) => void this.ends.push(code)
  close = () => {}
}

test('a session to which a frame cannot be sent is ended, and the sessions after it get the frame', () => {
  const ears = [new Ear(), new Ear(new TypeError('gone')), new Ear()]
  const sessions = ears.map(ear => {
    const session = new Session(ear, { codec: findCodec('json', 'number')!, clientOrigin: new ClientOrigin('', 0) }, 0)
    session.open({ kind: 'user', user: 7, credential: '' }, Number.POSITIVE_INFINITY)
    return session
  })
  const log: string[] = []

  broadcast(
    sessions,
    { type: 'app_added', app_id: 3 },
    createLog('error', line => log.push(line)),
  )

  expect(ears.map(({ frames, ends }) => [frames, ends])).toEqual([
    [[{ type: 'app_added', app_id: 3 }], []],
    [[], [1011]],
    [[{ type: 'app_added', app_id: 3 }], []],
  ])
  expect(log).toEqual([expect.stringContaining('gone')])
})
