import { expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { toIdempotencyKey, withContent } from '../../src/http/request/idempotency.ts'

const user = (id: number, credential = 'token'): Principal => ({ kind: 'user', user: id, credential })
const apiKey = (credential: string): Principal => ({ kind: 'key', user: 0, credential })

const request = { key: 'k', by: user(1), method: 'POST', path: '/api/apps', body: '{}' }

test('a key is its caller’s own: of a user whatever the token, of an API key itself', () => {
  const keyOf = (by: Principal, key: string) => toIdempotencyKey({ ...request, by, key }).key.toString('hex')

  expect(keyOf(user(1, 'renewed'), 'k')).toBe(keyOf(user(1), 'k'))
  const others: [Principal, string][] = [
    [user(1), 'k'],
    [user(1), 'K'],
    [user(2), 'k'],
    // The same characters, parted elsewhere.
    [user(1), '2k'],
    [user(12), 'k'],
    [apiKey('one'), 'k'],
    [apiKey('other'), 'k'],
    [apiKey('user 1'), 'k '],
  ]
  expect(new Set(others.map(([by, key]) => keyOf(by, key))).size).toBe(others.length)
})

test('a request is the same if all of it is', () => {
  const requestOf = (change: Partial<typeof request>, ...content: string[]) => {
    const idempotencyKey = toIdempotencyKey({ ...request, ...change })
    return (content.length === 0 ? idempotencyKey : withContent(idempotencyKey, ...content)).request.toString('hex')
  }

  expect(requestOf({ key: 'another', by: user(2) })).toBe(requestOf({}))
  const others = [
    requestOf({}),
    requestOf({ method: 'PUT' }),
    requestOf({ path: '/api/users' }),
    requestOf({ path: '/api/apps{', body: '}' }),
    requestOf({ body: '{ }' }),
    requestOf({}, 'a.txt', 'text'),
    requestOf({}, 'a.txtt', 'ext'),
    requestOf({}, 'b.txt', 'text'),
    requestOf({ path: '/api/blobs' }, 'a.txt', 'text'),
  ]
  expect(new Set(others).size).toBe(others.length)
})
