import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig, settings } from '../../src/config/config.ts'
import { createDirectory, startProgram } from '../support/process.ts'

test('without any variable every setting has a value, and nobody can change it', () => {
  const config = readConfig({})

  expect(config).toMatchObject({ port: 8080, host: null, dataDir: '.data', databaseUrl: null, version: '32.1.0' })
  const { sources, ...values } = config
  expect(Object.keys(values)).toEqual(Object.keys(settings))
  expect(sources.size).toBe(0)
  expect(Object.isFrozen(config)).toBe(true)
})

test('a variable without a value means the same as none', () => {
  const config = readConfig({ PORT: '', DATABASE_URL: '' })

  expect(config).toMatchObject({ port: 8080, databaseUrl: null })
})

test('a secret is seen only by whoever asks for it by name', () => {
  const { databaseUrl } = readConfig({ DATABASE_URL: 'postgres://parley:hidden@localhost/parley' })

  expect(databaseUrl?.reveal()).toBe('postgres://parley:hidden@localhost/parley')
  expect([`${databaseUrl}`, inspect(databaseUrl), JSON.stringify(databaseUrl)]).toEqual([
    '[secret]',
    '[secret]',
    '"[secret]"',
  ])
})

test.each([
  ['PUBLIC_URL', 'https://ann:secret@chat.example'],
  ['PUBLIC_URL', 'https://chat.example/parley?x'],
  ['PUBLIC_URL', 'https://chat.example#y'],
  ['CORS_ORIGINS', 'app.example'],
  ['CORS_ORIGINS', 'https://app.example/'],
  ['CORS_ORIGINS', 'https://app.example, null'],
])('%s that can never work is refused: %s', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(name)
})

test.each([
  [{ S3_ACCESS_KEY_ID: 'id' }],
  [{ S3_SECRET_ACCESS_KEY: 'secret' }],
  [{ TLS_CERT_FILE: import.meta.filename }],
  [{ TLS_KEY_FILE: import.meta.filename }],
])('half of a pair is refused: %j', half => {
  expect(() => readConfig(half)).toThrow('must be set together')
})

test('both of a pair, or neither, are taken', () => {
  const keys = readConfig({ S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' })
  const files = readConfig({ TLS_CERT_FILE: import.meta.filename, TLS_KEY_FILE: import.meta.filename })

  expect([keys.s3AccessKeyId, keys.tlsKeyFile]).toEqual(['id', null])
  expect([files.s3AccessKeyId, files.tlsKeyFile]).toEqual([null, import.meta.filename])
})

test.each([
  ['SESSION_BACKLOG_KB', '64', true],
  ['SESSION_BACKLOG_KB', '63', false],
  ['DATABASE_CONNECTIONS', '500', true],
  ['DATABASE_CONNECTIONS', '501', false],
  ['DATABASE_CONNECTIONS', '0', false],
  ['DATABASE_CONNECTIONS', '1.5', false],
])('%s of %s is within its bounds: %s', (name, value, expected) => {
  if (expected) expect(() => readConfig({ [name]: value })).not.toThrow()
  else expect(() => readConfig({ [name]: value })).toThrow(`${name} must be a whole number from`)
})

test('an address may have a path, and an origin may be of an app', () => {
  const config = readConfig({
    PUBLIC_URL: 'https://chat.example:8443/parley/',
    CORS_ORIGINS: 'https://app.example, http://localhost:3000, capacitor://localhost, *',
  })

  expect(config.publicUrl).toBe('https://chat.example:8443/parley')
  expect(config.corsOrigins).toEqual(['https://app.example', 'http://localhost:3000', 'capacitor://localhost', '*'])
})

test('every setting says its name, its default and what it is for, once', () => {
  const rows = Object.values(settings)

  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  for (const { name, meaning } of rows) {
    expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/)
    expect(meaning).toMatch(/^[A-Z].{9}/)
  }
})

test('the file .env is read, and the real environment goes before it', async () => {
  await using dir = createDirectory()
  writeFileSync(join(dir.path, '.env'), 'VERSION=1.2.3\nLOG_LEVEL=debug\n')

  await using program = await startProgram(dir, { LOG_LEVEL: 'error' })

  expect(await (await fetch(`${program.url}/version`)).text()).toBe('1.2.3')
  expect(program.output()).not.toContain('"level":"debug"')
})
