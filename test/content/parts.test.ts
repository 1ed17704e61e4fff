import { expect, test } from 'vitest'
import { loadAbout } from '../../src/resources/items/load.ts'
import type { PartReader } from '../../src/resources/content/parts/part.ts'

test('where what hangs on items cannot be read, their reader is told, and no failure is left that nobody handles', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const failed = Promise.reject(new Error('the database is gone'))

  await expect(loadAbout([], failed, { by: { kind: 'key' } } as PartReader)).rejects.toThrow('the database is gone')
  // Node.js reports them once the promises that are settled have called all that waits for them.
  await new Promise(resolve => setImmediate(resolve))

  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
