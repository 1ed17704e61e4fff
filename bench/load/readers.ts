import { addressed } from './http-connection.ts'
import { openListeners, type Listening } from './listeners.ts'
import { Senders } from './senders.ts'

/** People who are connected while others write. */
export interface Readers extends Listening {
  /**
   * For each listener the request that moves its read marker to the newest message that it has heard, at most once a
   * second; `{id}` stands for that message. Without it, they only listen.
   */
  marks?: string[]
}

/** Clients do not mark each message of a busy room, but where the reader has come to. */
const markPeriodMs = 1_000

const delivery = Buffer.from('"event":"message_created"')
const link = Buffer.from('"message":{"id":')

/** Listeners who read along while other load is made. */
export class ReadingAlong {
  /** Messages that arrived, over all listeners. */
  heard = 0
  #end = () => {}

  static async open({ marks, ...listening }: Readers, fail: (error: Error) => void): Promise<ReadingAlong> {
    const along = new ReadingAlong()
    const newest: (string | null)[] = listening.listeners.map(() => null)
    const connections = await openListeners(listening, (listener, frame) => {
      if (!frame.includes(delivery)) return
      along.heard++
      if (marks !== undefined) newest[listener] = readId(frame)
    })
    const senders = new Senders(listening.servers[0]!, fail)
    const requests = marks?.map(request => addressed(request, listening.servers[0]!)) ?? []
    const refused = (status: number) => {
      if (status > 299) fail(new Error(`A read marker was refused with ${status}`))
    }
    // Each at a time of its own within the period, as people do.
    const timers = requests.map((request, listener) => {
      const mark = () => {
        const id = newest[listener]
        timers[listener] = setTimeout(mark, markPeriodMs)
        if (id == null) return
        newest[listener] = null
        senders.send(request.replace('{id}', id), refused)
      }
      return setTimeout(mark, (listener / requests.length) * markPeriodMs)
    })
    along.#end = () => {
      timers.forEach(clearTimeout)
      senders.close()
      for (const connection of connections) connection.close()
    }
    return along
  }

  close(): void {
    this.#end()
  }
}

/** The id of the message that a frame tells of. */
function readId(frame: Buffer): string | null {
  const at = frame.indexOf(link)
  return at === -1
    ? null
    : (/^"?(\d+)/.exec(frame.toString('latin1', at + link.length, at + link.length + 24))?.[1] ?? null)
}
