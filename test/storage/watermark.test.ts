import { expect, test } from 'vitest'
import { Watermark } from '../../src/log/watermark.ts'
import { findNewestChange } from '../../src/resources/notifications/store.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

test('a number of a transaction that is under way is not passed, though no later one is over', async () => {
  await using database = await createDatabase()
  const { sql } = database
  const watermark = new Watermark(sql, () => performance.now(), {
    numbers: { findNewest: findNewestChange, drawnAheadMs: 0 },
    start: 0,
  })
  const writing = await sql.reserve()
  await writing`begin`
  const [drawn] = await writing<{ number: number }[]>`
    select nextval('notification_changes') as number from pg_current_xact_id()`

  for (let turn = 0; turn < 4; turn++) {
    await watermark.advance()
    watermark.confirm()
  }
  const meanwhile = watermark.from
  await writing`commit`
  writing.release()

  expect(meanwhile).toBeLessThan(drawn!.number)
  await eventually(async () => {
    await watermark.advance()
    watermark.confirm()
    expect(watermark.from).toBe(drawn!.number)
  })
})
