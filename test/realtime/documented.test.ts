import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AppState } from '../../src/engine/state.ts'
import type { RealtimeEvent } from '../../src/client/events.ts'
import { eventTypes } from '../../src/resources/index.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/realtime.md'), 'utf8')

/** A chat of two: where least is kept from those who listen. */
const chat = { app: { access: 'none' }, memberCount: 2 } as AppState

/** What clients that are subscribed to an app may hear of. */
const told = [...eventTypes.values()]
  .filter(({ present, isBroadcast: isTold }) => present !== undefined && isTold?.(chat) !== false)
  .map(({ type }) => type)
  .toSorted()

test('the page about realtime lists the events that clients of an app get', () => {
  const events = /\n### Events\n([\s\S]*?)\n### /.exec(page)![1]!
  const rows = [...events.matchAll(/^\| ((?:`\w+`(?:, )?)+)/gm)]

  const listed = rows.flatMap(([, names]) => names!.replaceAll('`', '').split(', ')).toSorted()

  expect(listed).toEqual(told)
})

test('the page names the members of each event, as its schema does', () => {
  const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\| (.*) \|$/gm)]
  const documented = new Map(rows.flatMap(([, names, text]) => names!.split(', ').map(name => [name, text!] as const)))

  for (const type of told)
    for (const member of Object.keys(eventTypes.get(type)!.schema!.shape))
      expect([type, documented.get(`\`${type}\``)]).toEqual([type, expect.stringContaining(`\`${member}\``)])
})

test('the typed client knows each of these events', () => {
  const known = {
    app_created: true,
    app_updated: true,
    app_trashed: true,
    app_restored: true,
    app_deleted: true,
    owner_changed: true,
    app_marked: true,
    member_added: true,
    member_updated: true,
    member_removed: true,
    message_created: true,
    message_updated: true,
    message_deleted: true,
    post_created: true,
    post_updated: true,
    post_deleted: true,
    comment_created: true,
    comment_updated: true,
    comment_deleted: true,
    file_created: true,
    file_updated: true,
    file_deleted: true,
    vote_added: true,
    vote_removed: true,
    reaction_added: true,
    reaction_removed: true,
    // The compiler holds that this is all that it knows.
  } satisfies Record<RealtimeEvent['event'], true>

  expect(Object.keys(known).toSorted()).toEqual(told)
})
