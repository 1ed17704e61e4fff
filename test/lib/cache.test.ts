import { expect, test } from 'vitest'
import { Cache } from '../../src/lib/cache.ts'

const open = (budget: number) => new Cache<string>(budget, text => text.length)

test('what was not asked for longest makes room for what comes', () => {
  const cache = open(6)
  cache.set('one', '11')
  cache.set('two', '22')
  cache.set('three', '33')
  cache.get('one')

  cache.set('four', '4')

  expect(['one', 'two', 'three', 'four'].map(key => cache.get(key))).toEqual(['11', undefined, '33', '4'])
})

test('a value takes its room once, however often it is kept, and none when it is gone', () => {
  const cache = open(6)
  for (let i = 0; i < 10; i++) cache.set('one', '11')
  cache.set('two', '2222')
  const kept = [cache.get('one'), cache.get('two')]

  for (let i = 0; i < 10; i++) cache.delete('one')
  cache.set('three', '33')

  expect(kept).toEqual(['11', '2222'])
  expect([cache.get('two'), cache.get('three')]).toEqual(['2222', '33'])
})

test('a value that is kept again counts as new, with the size that it has now', () => {
  const cache = open(6)
  cache.set('one', '1')
  cache.set('two', '22')
  cache.set('one', '1111')

  cache.set('three', '33')

  expect(['one', 'two', 'three'].map(key => cache.get(key))).toEqual(['1111', undefined, '33'])
})

test('what is larger than all the room is not kept', () => {
  const cache = open(6)
  cache.set('one', '1111111')

  cache.set('two', '222222')

  expect(['one', 'two'].map(key => cache.get(key))).toEqual([undefined, '222222'])
})
