import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { triggers } from '../../src/resources/webhooks/schema.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { register } from '../support/webhooks.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')

test('the page about webhooks lists the triggers and actions that there are', () => {
  const listed = [...page.matchAll(/^\| `(\w+)` +\| ((?:`\w+`(?:, )?)+) +\| ./gm)].map(([, trigger, actions]) => [
    trigger,
    actions!.replaceAll('`', '').split(', ').toSorted(),
  ])

  const declared = new Map<string, string[]>()
  for (const { trigger, type } of resources.flatMap(({ events = [] }) => events)) {
    if (trigger !== undefined) declared.set(trigger, [...(declared.get(trigger) ?? []), type].toSorted())
  }
  expect(listed).toEqual([...declared].toSorted(([one], [other]) => (one < other ? -1 : 1)))
})

test('webhooks can be registered for every trigger that events have, and for no others', () => {
  const declared = resources.flatMap(({ events = [] }) => events.flatMap(({ trigger }) => trigger ?? []))

  expect([...triggers].toSorted()).toEqual([...new Set(declared)].toSorted())
})

test('the check of signatures that it shows accepts what is sent, and nothing else', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  const { app, people } = await server.chatWith(1)
  await register(server, receiver.url, { secret: 'sesame' })
  await people[0].post(`/api/apps/${app}/messages`, { text: 'Hello' })
  await eventually(() => expect(receiver.requests).toHaveLength(1))
  const folder = mkdtempSync(join(tmpdir(), 'parley-docs-'))
  const file = join(folder, 'check.mjs')
  writeFileSync(file, /```js\n([\s\S]*?)```/.exec(page)![1]!)

  const { isGenuine } = (await import(file)) as {
    isGenuine: (body: Buffer, signature: string | undefined, secret: string) => boolean
  }

  const [{ body, headers }] = receiver.requests as [(typeof receiver.requests)[0]]
  const signature = headers['x-service-signature'] as string
  expect(isGenuine(Buffer.from(body), signature, 'sesame')).toBe(true)
  expect(isGenuine(Buffer.from(`${body} `), signature, 'sesame')).toBe(false)
  expect(isGenuine(Buffer.from(body), signature, 'other')).toBe(false)
  expect(isGenuine(Buffer.from(body), undefined, 'sesame')).toBe(false)
  rmSync(folder, { recursive: true })
})
