import { expect, test } from 'vitest'
import { GlobalCommands } from '../../src/engine/global/global-commands.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { Credentials } from '../../src/auth/credentials.ts'
import { issueToken, revokeTokens } from '../../src/resources/tokens/commands.ts'
import { addPartitions } from '../../src/log/events.ts'
import { createDatabase } from '../support/database.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { slowed } from '../support/slowed.ts'

const key: Principal = { kind: 'key', user: 0, credential: '' }
const now = () => new Date()

test('a token that is revoked while it is being looked up is not kept', async () => {
  await using database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 3, statementTimeoutMs: 10_000 })
  await using _ = { [Symbol.asyncDispose]: () => sql.end() }
  await addPartitions(sql, now())
  await sql`insert into users (uid, display_name, created_at) values ('ann', 'ann', now())`
  const sharedLog = new SharedLog(sql)
  const globalCommands = new GlobalCommands(sql, sharedLog, now)
  const { slow, arrived, release } = slowed(sql)
  const credentials = new Credentials(slow, sharedLog, now)
  const token = await globalCommands.run(issueToken, key, { user: 'ann', expiresInSeconds: 60 })

  const lookup = credentials.authenticate(token, () => '')
  await arrived
  await globalCommands.run(revokeTokens, key, 'ann')
  release()

  expect(await lookup).toBeNull()
  expect(await credentials.authenticate(token, () => '')).toBeNull()
})
