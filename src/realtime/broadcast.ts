import type { Log } from '../lib/log.ts'
import type { Codec, Frame } from './protocols/protocol.ts'
import { closeCodes, type Session } from './sessions/session.ts'

/**
 * Sends a frame without history to some sessions, encoded once per codec. A session that fails is logged and ended, so
 * that its client reconnects and reads again; the others get the frame.
 */
export function broadcast(sessions: Iterable<Session>, frame: Frame, log: Log): void {
  const encoded = new Map<Codec, Uint8Array | null>()
  for (const session of sessions) {
    try {
      let bytes = encoded.get(session.codec)
      if (bytes === undefined) encoded.set(session.codec, (bytes = session.codec.encode(frame)))
      if (bytes !== null) session.sendBytes(bytes)
    } catch (error) {
      log.error({ type: frame.type, error }, 'A frame could not be sent to a session')
      session.close(closeCodes.failed, 'reconnect')
    }
  }
}
