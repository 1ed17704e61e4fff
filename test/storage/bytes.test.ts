import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Bytes } from '../../src/bytes/bytes.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { S3Bytes } from '../../src/bytes/bytes-s3.ts'
import { Renditions } from '../../src/media/renditions.ts'
import { isUnavailable } from '../../src/postgres/unavailable.ts'
import { createFaultProxy } from '../../src/client/testing/proxy.ts'
import { startS3 } from '../support/s3.ts'

/** Every case runs on each of these. */
const bodies: [string, () => Promise<AsyncDisposable & { bytes: Bytes }>][] = [
  ['disk', onDisk],
  ['S3', onS3],
]

test.each(bodies)('what was put can be read, whole and in part (%s)', async (_name, open) => {
  await using place = await open()
  const { bytes } = place
  await bytes.put('abcdef', pieces('hello ', 'world'))

  const whole = await read(bytes, 'abcdef')
  const part = await (await bytes.open('abcdef', { first: 4, last: 6 }))!.toArray()

  expect(whole).toBe('hello world')
  expect(Buffer.concat(part).toString()).toBe('o w')
  expect(await bytes.sizeOf('abcdef')).toBe(11)
  expect(await bytes.withFile('abcdef', async path => readFileSync(path, 'utf8'))).toBe('hello world')
})

test.each(bodies)('more than fits into one part arrives unchanged (%s)', async (_name, open) => {
  await using place = await open()
  const chunk = Buffer.alloc(3_000_000, 'abc')

  await place.bytes.put('larger', pieces(...Array.from({ length: 7 }, () => chunk)))

  const found = Buffer.concat(await (await place.bytes.open('larger'))!.toArray())
  expect(found.equals(Buffer.concat(Array.from({ length: 7 }, () => chunk)))).toBe(true)
})

test.each(bodies)('a source that fails half-way leaves nothing (%s)', async (_name, open) => {
  await using place = await open()

  const put = place.bytes.put('broken', failing(Buffer.alloc(9_000_000)))

  await expect(put).rejects.toThrow('the client went away')
  expect(await place.bytes.open('broken')).toBeNull()
  expect(await place.bytes.sizeOf('broken')).toBeNull()
})

test('what was put in parts leaves nothing but the whole at the store, or nothing where its source fails', async () => {
  await using store = await startS3()
  const bytes = new S3Bytes({ ...store, isPathStyle: true })
  const large = Buffer.alloc(9_000_000)

  await bytes.put('whole', pieces(large))
  await expect(bytes.put('broken', failing(large))).rejects.toThrow('the client went away')

  expect(await bytes.sizeOf('whole')).toBe(large.length)
  expect(store.openUploads).toBe(0)
})

test.each(bodies)('what was removed is gone, and may be removed again (%s)', async (_name, open) => {
  await using place = await open()
  await place.bytes.put('abcdef', pieces('x'))
  await place.bytes.put('abcdef.thumbnail', pieces('y'))

  await place.bytes.remove(['abcdef', 'nothing'])
  await place.bytes.remove(['abcdef'])

  expect(await place.bytes.open('abcdef')).toBeNull()
  expect(await read(place.bytes, 'abcdef.thumbnail')).toBe('y')
})

test('what is on disk is for the user alone that the server runs as', async () => {
  await using place = await onDisk()
  await place.bytes.put('abcdef', pieces('x'))

  const mode = await place.bytes.withFile('abcdef', async path => statSync(path).mode & 0o777)

  expect(mode).toBe(0o600)
})

test('no key leads out of the folder', async () => {
  await using place = await onDisk()

  const attempts = ['../../etc/passwd', 'ab/../../x', '..', '.hidden'].map(key => place.bytes.sizeOf(key))

  for (const attempt of attempts) await expect(attempt).rejects.toThrow('not one that this server made')
})

test('a store that falls silent is not waited for, whatever it was asked', async () => {
  await using store = await startS3()
  await using network = await createFaultProxy(store.endpoint)
  const bytes = new S3Bytes({ ...store, endpoint: network.url, isPathStyle: true, silenceMs: 1000 })
  await bytes.put('large', pieces(Buffer.alloc(32_000_000)))
  const begun = (await bytes.open('large'))!

  network.silence()
  const outcomes = await Promise.allSettled([
    begun.toArray(),
    bytes.open('large'),
    bytes.sizeOf('large'),
    bytes.withFile('large', async () => {}),
    bytes.put('small', pieces('x')),
    bytes.remove(['large']),
    new Renditions(bytes).inspect('large', 1),
  ])

  const failures = outcomes.map(outcome => outcome.status === 'rejected' && isUnavailable(outcome.reason))
  expect(failures).toEqual(outcomes.map(() => true))
})

test('a store that says it has too much to do is one to be asked later', async () => {
  await using store = await startS3()
  const bytes = new S3Bytes({ ...store, isPathStyle: true })
  store.overload()

  const outcomes = await Promise.allSettled([bytes.open('x'), bytes.sizeOf('x'), bytes.put('x', pieces('x'))])

  const failures = outcomes.map(outcome => outcome.status === 'rejected' && isUnavailable(outcome.reason))
  expect(failures).toEqual([true, true, true])
})

test.runIf(existsSync('/dev/full'))('a disk that is full is one to be asked later', async () => {
  await expect(writeFile('/dev/full', 'x')).rejects.toSatisfy(isUnavailable)
})

async function read(bytes: Bytes, key: string): Promise<string> {
  return Buffer.concat(await (await bytes.open(key))!.toArray()).toString()
}

async function* pieces(...contents: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const content of contents) yield Buffer.from(content)
}

async function* failing(first: Uint8Array): AsyncGenerator<Uint8Array> {
  yield first
  throw new Error('the client went away')
}

async function onDisk() {
  const path = mkdtempSync(join(tmpdir(), 'parley-bytes-'))
  return { bytes: new DiskBytes(path), [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true }) }
}

async function onS3() {
  const server = await startS3()
  const bytes = new S3Bytes({ ...server, isPathStyle: true })
  return { bytes, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
