import { lookup } from 'node:dns/promises'
import { expect, test } from 'vitest'
import type { EgressFailed } from '../../src/egress/egress-failed.ts'
import { askNameServers } from '../../src/egress/name-servers.ts'
import { openOutside } from '../../src/egress/outside.ts'
import { startNameServer } from '../support/name-server.ts'
import { answer, startReceiver } from '../support/receiver.ts'

test('a name is resolved to all of its addresses, of both kinds', async () => {
  await using names = await startNameServer({
    'both.test': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8:0:0:0:0:0:1'] },
    'old.test': { A: ['192.0.2.3'] },
  })
  const resolve = askNameServers([names.server])

  expect(await resolve('both.test')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ])
  expect(await resolve('old.test')).toEqual([{ address: '192.0.2.3', family: 4 }])
})

test('names that nobody answers for keep no other name from being resolved', async () => {
  await using names = await startNameServer({ 'there.test': { A: ['127.0.0.1'] } })
  await using receiver = await startReceiver(answer(200, 'here'))
  const outside = openOutside({ version: '1', allow: ['127.0.0.0/8'], nameServers: [names.server] })
  const get = (host: string) =>
    outside.send({
      ...{ url: `http://${host}:${receiver.port}/`, method: 'GET', headers: {} },
      ...{ deadlineMs: 3_000, keepBytes: 100 },
    })

  // Twice what the system's resolver has threads.
  const waiting = [1, 2, 3, 4, 5, 6, 7, 8].map(i => get(`silent-${i}.test`).catch((error: unknown) => error))
  await expect.poll(() => new Set(names.asked).size).toBe(8)
  const [found, own] = await Promise.all([get('there.test'), lookup('localhost')])
  const failures = await Promise.all(waiting)

  expect([found.body.toString(), own.address]).toEqual(['here', expect.stringMatching(/^(127\.0\.0\.1|::1)$/)])
  expect(failures.map(failure => (failure as EgressFailed).fault)).toEqual(Array(8).fill('deadline'))
})
