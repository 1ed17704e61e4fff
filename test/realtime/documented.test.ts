import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AppState } from '../../src/engine/state.ts'
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
