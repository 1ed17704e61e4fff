import { expect, test } from 'vitest'
import { parseArguments } from '../../../src/agents/providers/call-arguments.ts'

test.each([
  ['{"id":"17"}', { id: '17' }],
  ['', {}],
  [' \n', {}],
])('%j is taken as arguments', (text, expected) => {
  expect(parseArguments(text)).toEqual(expected)
})

test.each(['{"id":', '[1]', '"text"', 'null', '17', '{}{}'])('%s is none', text => {
  expect(parseArguments(text)).toBeNull()
})

test('members that would become prototypes are dropped at any depth', () => {
  const parsed = parseArguments('{"__proto__":{"a":1},"list":[{"__proto__":{"a":1},"b":2}]}')

  expect(JSON.stringify(parsed)).toBe('{"list":[{"b":2}]}')
  expect(({ ...parsed } as { a?: number }).a).toBeUndefined()
})

test('what no database stores is left out', () => {
  const text = String.raw`{"a":"one\u0000two","list":["\ud800"],"\u0000":1,"\udc00":2}`

  expect(parseArguments(text)).toEqual({ a: 'onetwo', list: ['\ufffd'] })
})

test('arguments are nested a hundred deep at most', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`

  expect(parseArguments(nested(99))).not.toBeNull()
  expect(parseArguments(nested(100))).toBeNull()
})

test('more than a mebibyte, or a depth that cannot be walked, is none', () => {
  expect(parseArguments(JSON.stringify({ text: 'x'.repeat(1024 * 1024) }))).toBeNull()
  expect(parseArguments(`{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`)).toBeNull()
})
