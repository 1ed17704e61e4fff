import { chmodSync, existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { EmbeddedPostgres } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, launchProgram, startProgram } from '../support/process.ts'

test('all faults of the configuration are named in one message, without their values', async () => {
  await using dir = createDirectory()

  await using program = launchProgram(dir, {
    PORT: 'eighty',
    LOG_LEVEL: 'loud',
    API_KEY: 'too-short',
    TLS_KEY_FILE: '/no',
  })

  expect(await program.ended).toBe(1)
  expect(program.output()).toBe(
    [
      'The configuration has faults:',
      '  - PORT must be a whole number from 0 to 65535',
      '  - TLS_KEY_FILE must name a file that exists',
      '  - API_KEY must begin with wys_ and have at least 32 characters, without spaces',
      '  - LOG_LEVEL must be debug, info, warn or error',
      '  - TLS_CERT_FILE and TLS_KEY_FILE must be set together',
      '',
    ].join('\n'),
  )
})

test('a port that is taken is named, with the way out', async () => {
  await using dir = createDirectory()
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo

  await using program = launchProgram(dir, { PORT: String(port) })

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain(String(port))
  expect(program.output()).toContain('PORT')
  other.close()
})

test('a port that another node has is not shared with it', async () => {
  await using dir = createDirectory({ name: 'first' })
  await using other = createDirectory({ name: 'second' })
  await using first = await startProgram(dir)
  const { port } = new URL(first.url)

  await using second = launchProgram(other, { PORT: port })

  expect(await second.ended).toBe(1)
  expect(second.output()).toContain(`Port ${port} on 127.0.0.1 is taken by another program.`)
})

test('a database that cannot be reached is named without its password, and waited for', async () => {
  await using dir = createDirectory()

  await using program = launchProgram(dir, { DATABASE_URL: 'postgres://parley:hidden@127.0.0.1:1/parley' })

  await eventually(() => expect(program.output()).toContain('Waiting for it.'))
  expect(program.output()).toContain('PostgreSQL cannot be reached at 127.0.0.1:1/parley')
  expect(program.output()).toContain('DATABASE_URL')
  expect(program.output()).not.toContain('hidden')
})

test('a database of a newer version is left alone', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()
  await database.sql`insert into migrations (name, applied_at) values ('9999_from_the_future.sql', now())`

  await using program = launchProgram(dir, { DATABASE_URL: database.url })

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain('newer version')
  expect(program.output()).toContain('9999_from_the_future.sql')
})

test('a database whose schema was made by another build is left alone', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()
  await database.sql`update migrations set digest = 'other' where name = '0000_schema'`

  await using program = launchProgram(dir, { DATABASE_URL: database.url })

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain('another build of Parley (its 0000_schema differ')
  expect(program.output()).toContain('DATA_DIR or DATABASE_URL')
})

/** What a database of a version before 0.9.0 says of itself. */
const early = `
  delete from migrations;
  insert into migrations (name, applied_at, digest) values ('0000_words.sql', now(), 'a'), ('0001_people.sql', now(), 'b')`

test('a database from before 0.9.0 is left alone, with the way out', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()
  await database.sql.unsafe(early)

  await using program = launchProgram(dir, { DATABASE_URL: database.url })

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain('a version of Parley before 0.9.0')
  expect(program.output()).toContain('new DATA_DIR or DATABASE_URL')
  expect(await database.sql`select name from migrations`).toHaveLength(2)
})

test('so is a data directory from before 0.9.0', async () => {
  await using dir = createDirectory()
  const log = createLog('error')
  const postgres = await EmbeddedPostgres.start({ dir: dir.path, connections: 10, log, onLost: () => {} })
  const sql = openSql({ url: postgres.url, connections: 1, statementTimeoutMs: 30_000 })
  await migrate(sql, log)
  await sql.unsafe(early)
  await sql.end()
  await postgres.stop()

  await using program = launchProgram(dir, {})

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain('a version of Parley before 0.9.0')
  expect(program.output()).toContain('new DATA_DIR or DATABASE_URL')
})

test('a data directory that cannot be written is named, with the way out', async () => {
  await using dir = createDirectory()
  chmodSync(dir.path, 0o555)

  // Root may write into any folder, so for root it is none.
  const unwritable = process.getuid?.() === 0 ? '/dev/null/parley' : dir.path
  await using program = launchProgram(dir, { DATA_DIR: unwritable })

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain(`The data directory ${unwritable} cannot be written`)
  expect(program.output()).toContain('DATA_DIR')
})

test.runIf(existsSync('/proc/self'))('a data directory that can never be made is named as well', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()

  for (const where of [{}, { DATABASE_URL: database.url }]) {
    await using program = launchProgram(dir, { DATA_DIR: '/proc/parley/data', ...where })

    expect(await program.ended).toBe(1)
    expect(program.output()).toMatch(/The data directory \/proc\/parley\/data\S* cannot be written \(ENOENT\)/)
  }
})
