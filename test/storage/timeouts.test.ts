import { expect, test } from 'vitest'
import { createDatabase, setDefault } from '../support/database.ts'
import { startServer } from '../support/server.ts'

test.each(['lock_timeout', 'transaction_timeout'])(
  'who waits for others longer than the %s of a database allows is told to try again',
  async setting => {
    await using database = await createDatabase()
    // Connected before, so that the setting is for others.
    const locking = await database.sql.reserve()
    await setDefault(database, `${setting} = '500ms'`)
    await using server = await startServer({ DATABASE_URL: database.url })
    const ann = await server.person('Ann')
    await locking`begin`
    await locking`lock table apps in access exclusive mode`

    const refused = await ann.get('/api/messages')

    await locking`commit`
    locking.release()
    expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]/)
    expect(await ann.get('/api/messages')).toMatchObject({ status: 200 })
  },
)
