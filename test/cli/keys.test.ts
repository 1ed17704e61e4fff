import { expect, test } from 'vitest'
import { describeKey, KeyOffice } from '../../src/cli/keys.ts'
import { createLog } from '../../src/lib/log.ts'
import { client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('a key that an operator makes is valid on a running node, until it is revoked there as well', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const keys = await KeyOffice.open(database.url, createLog('error'))

  const key = await keys.create('CRM', 30)
  expect((await client(server.url, key).get('/api/users')).status).toBe(200)
  const made = (await keys.list()).find(({ name }) => name === 'CRM')!
  expect(describeKey(made)).toMatch(/^\d+\t\S+\tCRM\tmade \S+\t(never used|used \S+)\tvalid until \d{4}-\d\d-\d\d$/)
  await keys.revoke(made.id)

  await eventually(async () => expect((await client(server.url, key).get('/api/users')).status).toBe(401))
  const { body } = await server.admin.get('/api/audit?order_by=id')
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining(['key_created', 'key_revoked']),
  )
  await expect(keys.revoke(999)).rejects.toThrow('There is no such')
  await keys.close()
})

test('the last valid key is not revoked', async () => {
  await using database = await createDatabase()
  const keys = await KeyOffice.open(database.url, createLog('error'))
  await keys.create('Only one', null)
  const [only] = await keys.list()

  await expect(keys.revoke(only!.id)).rejects.toThrow(/last/)

  expect((await keys.list())[0]).toMatchObject({ revoked_at: null })
  await keys.close()
})
