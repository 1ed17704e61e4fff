import { expect, test } from 'vitest'
import { ItemCollection } from '../../src/client/collections/item-collection.ts'
import type { ContentDraft } from '../../src/client/index.ts'
import type { RealtimeEvent, Subscribed } from '../../src/client/connection/frames.ts'
import { Http } from '../../src/client/http/http.ts'
import { Token } from '../../src/client/http/token.ts'
import { Feed } from '../../src/client/store/feed.ts'
import type { Content } from '../../src/client/store/fold.ts'

const user = { id: 7, name: 'Ann' }
const rooms = 1_000
const sends = 100

/** When the event of a send comes: before its answer, in the same turn, or a turn later. */
const orders = ['before', 'with', 'after'] as const

/** A room on a server that answers at once, and says what it does in any order. */
function openRoom() {
  const feed = new Feed('1', { ask: () => {}, unsubscribe: () => {}, hold: () => () => {} })
  let [rev, turn] = [1, 0]
  const unsaid: RealtimeEvent[] = []
  const answer: typeof fetch = async (_url, init) => {
    const id = (rev += 2)
    const message = { id, text: 'x', is_trashed: false, created_at: '2026-01-01T00:00:00Z', created_by: user }
    const { 'idempotency-key': key } = init!.headers as Record<string, string>
    const event = {
      type: 'event',
      event: 'message_created',
      app_id: 1,
      rev: id,
      prev: id - 2,
      actor: user,
      key,
      message,
    }
    unsaid.push(event as unknown as RealtimeEvent)
    const order = orders[turn++ % 3]!
    // What was done before is said before.
    const say = () => unsaid.splice(0).forEach(one => feed.event(one))
    if (order === 'before') say()
    else if (order === 'with') queueMicrotask(say)
    else setTimeout(say)
    const headers = { 'x-service-rev': String(id), 'content-type': 'application/json' }
    return new Response(JSON.stringify(message), { status: 201, headers })
  }
  const parts = {
    http: new Http('http://server', new Token('token'), answer),
    user: () => user,
    trouble: () => undefined,
    keeper: undefined,
  }
  const messages = new ItemCollection<Content, ContentDraft>(parts, feed, { type: 'message', path: '/messages' })
  feed.hold()
  const app = { id: 1, rev, kind: 'chat_room', is_unread: false }
  const snapshot = { app, item_type: 'message' }
  feed.subscribed({ type: 'subscribed', app_id: 1, rev, head_rev: rev, epoch: 'e', snapshot } as Subscribed)
  return messages
}

test('of 100,000 sends whose event comes before, with or after the answer, each is one row in every frame', async () => {
  const wrong: string[] = []
  let frames = 0
  for (let room = 0; room < rooms; room++) {
    const messages = openRoom()
    let sent = 0
    const stop = messages.subscribe(({ data }) => {
      frames++
      if (data.length !== sent || new Set(data.map(({ key }) => key)).size !== sent)
        wrong.push(`${data.length} rows of ${sent} sends`)
    })

    for (sent = 1; sent <= sends; sent++) await messages.send({ text: 'x' })
    sent--
    await new Promise(resolve => setTimeout(resolve, 1))

    const rows = messages.get().data
    if (rows.length !== sends || rows.some(({ state }) => state !== 'settled'))
      wrong.push(`room ${room} is not settled`)
    stop()
  }

  expect(wrong).toEqual([])
  expect(frames).toBeGreaterThan(rooms * sends)
}, 300_000)
