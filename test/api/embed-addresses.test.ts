import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'

const page = answer(200, '<!doctype html><title>A page</title>', { 'content-type': 'text/html' })

test('a password in an address is not sent, kept or shown', async () => {
  await using server = await startServer({ FETCH_ALLOW: '127.0.0.0/8' })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await using site = await startReceiver(page)
  const ask = (who: typeof ann, credentials: string) =>
    who.get(`/api/embeds?url=${encodeURIComponent(`http://${credentials}127.0.0.1:${site.port}/`)}`)

  const first = await ask(ann, 'ann:swordfish@')
  const second = await ask(ben, '')

  expect([first.status, second.status]).toEqual([201, 200])
  expect(second.body).toEqual(first.body)
  expect(JSON.stringify(first.body)).not.toMatch(/swordfish|ann:/)
  expect(site.requests).toHaveLength(1)
  expect(site.requests[0]!.headers).not.toHaveProperty('authorization')
})

test('what was found at an address a day ago is looked at again', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ FETCH_ALLOW: '127.0.0.0/8', DATABASE_URL: database.url })
  const ann = await server.person('Ann')
  await using site = await startReceiver(page)
  const ask = () => ann.get(`/api/embeds?url=http://127.0.0.1:${site.port}/`)
  const age = (hours: number) => database.sql`update embeds set created_at = now() - ${hours}::int * interval '1 hour'`

  const first = await ask()
  await age(23)
  const same = await ask()
  await age(25)
  const other = await ask()

  expect([first.status, same.status, other.status]).toEqual([201, 200, 201])
  expect(other.body.id).not.toBe(first.body.id)
  expect(site.requests).toHaveLength(2)
})
