import type { Log } from '../lib/log.ts'
import type { Form, Frame } from './protocol.ts'
import { closeCodes, type Session } from './session.ts'

/**
 * Tells some sessions what has no history, encoded once for each form. What fails for one session is logged and ends
 * that one, whose client comes back and reads anew; the others are told.
 */
export function tellEach(sessions: Iterable<Session>, frame: Frame, log: Log): void {
  const encoded = new Map<Form, Uint8Array | null>()
  for (const session of sessions) {
    try {
      let bytes = encoded.get(session.form)
      if (bytes === undefined) encoded.set(session.form, (bytes = session.form.encode(frame)))
      if (bytes !== null) session.sendBytes(bytes)
    } catch (error) {
      log.error({ type: frame.type, error }, 'A session could not be told of something')
      session.close(closeCodes.failed, 'reconnect')
    }
  }
}
