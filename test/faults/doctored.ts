import type { History } from './history.ts'

/**
 * A small history in which every promise was kept: two people in one app, each of whom sends through another node; a
 * native observer that lost its connection and resumed, a hub client on two connections, a receiver that got one
 * delivery again. For tests that doctor it.
 */
export function faithfulHistory(): History {
  const call = { app: 1, item: null, status: 201 } as const
  const native = { observer: 'native 1', app: 1 } as const
  const hub = { observer: 'hub 1', app: 1 } as const
  const delivery = { receiver: 'receiver 1', app: 1, action: 'message_created' } as const
  const sent = { app_id: 1, type: 'message_created', facts: null } as const
  const stored = { app_id: 1, is_trashed: false, edit: null } as const
  return {
    losses: [],
    faults: [{ at: 15, untilAt: 25, name: 'kill -9 node 1' }],
    calls: [
      { ...call, at: 10, doneAt: 12, verb: 'send', key: 'a', user: 7, node: 1, id: 101 },
      { ...call, at: 14, doneAt: 18, verb: 'send', key: 'b', user: 8, node: 1, status: null, id: null },
      { ...call, at: 20, doneAt: 22, verb: 'send', key: 'b', user: 8, node: 2, id: 103 },
      { ...call, at: 24, doneAt: 26, verb: 'send', key: 'a', user: 7, node: 2, id: 101 },
      { ...call, at: 30, doneAt: 32, verb: 'edit', key: 'c', user: 7, node: 2, item: 101, status: 200, id: 101 },
      { ...call, at: 34, doneAt: 36, verb: 'mark', key: 'd', user: 7, node: 2, item: 103, status: 204, id: null },
      { ...call, at: 38, doneAt: 40, verb: 'read', key: 'e', user: 7, node: 3, status: 200, id: 103 },
    ],
    sightings: {
      native: [
        { ...native, connection: 1, node: 1, at: 5, frame: 'subscribed', rev: 100, askedAt: 4 },
        {
          ...native,
          connection: 1,
          node: 1,
          at: 12,
          frame: 'event',
          rev: 102,
          prev: 100,
          event: 'message_created',
          item: 101,
        },
        { ...native, connection: 1, node: 1, at: 15, frame: 'closed', rev: 0, app: 0 },
        { ...native, connection: 2, node: 2, at: 26, frame: 'subscribed', rev: 102, after: 102, askedAt: 25 },
        {
          ...native,
          connection: 2,
          node: 2,
          at: 27,
          frame: 'event',
          rev: 104,
          prev: 102,
          event: 'message_created',
          item: 103,
        },
        { ...native, connection: 2, node: 2, at: 28, frame: 'current', rev: 104 },
        {
          ...native,
          connection: 2,
          node: 2,
          at: 32,
          frame: 'event',
          rev: 105,
          prev: 104,
          event: 'message_updated',
          item: 101,
        },
        { ...native, connection: 2, node: 2, at: 36, frame: 'event', rev: 106, prev: 105, event: 'app_marked' },
      ],
      hub: [
        { ...hub, connection: 1, node: 1, at: 5, frame: 'subscribed', rev: 0, askedAt: 4 },
        { ...hub, connection: 1, node: 1, at: 12, frame: 'event', rev: 102, event: 'message_created', item: 101 },
        { ...hub, connection: 1, node: 1, at: 12.5, frame: 'closed', rev: 0, app: 0 },
        { ...hub, connection: 2, node: 2, at: 13.5, frame: 'subscribed', rev: 0, askedAt: 13 },
        { ...hub, connection: 2, node: 2, at: 22, frame: 'event', rev: 104, event: 'message_created', item: 103 },
      ],
    },
    observers: ['native 1', 'hub 1'],
    deliveries: [
      { ...delivery, at: 13, guid: 'x', rev: 102 },
      { ...delivery, at: 23, guid: 'y', rev: 104 },
      { ...delivery, at: 33, guid: 'y', rev: 104 },
      { ...delivery, at: 34, guid: 'z', rev: 105, action: 'message_updated' },
    ],
    receivers: [{ name: 'receiver 1', actions: ['message_created', 'message_updated'], since: { 1: 100 } }],
    end: {
      apps: [
        {
          id: 1,
          head_rev: 106,
          item_count: 2,
          trashed_count: 0,
          made_count: 2,
          last_id: 103,
          last_by: 8,
          prior_id: 101,
        },
      ],
      events: [
        { app_id: 1, rev: 100, prev: 0, type: 'app_created', actor_id: 0, entity_id: 1, facts: null },
        { ...sent, rev: 102, prev: 100, actor_id: 7, entity_id: 101 },
        { ...sent, rev: 104, prev: 102, actor_id: 8, entity_id: 103 },
        { ...sent, rev: 105, prev: 104, actor_id: 7, entity_id: 101, type: 'message_updated' },
        { ...sent, rev: 106, prev: 105, actor_id: 7, entity_id: 1, type: 'app_marked', facts: { marked_id: 103 } },
      ],
      messages: [
        { ...stored, id: 101, text: 'a', created_by: 7, edit: 'c' },
        { ...stored, id: 103, text: 'b', created_by: 8 },
      ],
      members: [
        { app_id: 1, user_id: 7, marked_id: 103 },
        { app_id: 1, user_id: 8, marked_id: 103 },
      ],
      shown: [
        { node: 1, app: 1, user: 7, is_unread: false, count: 2 },
        { node: 2, app: 1, user: 8, is_unread: false, count: 2 },
      ],
    },
  }
}
