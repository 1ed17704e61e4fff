import { expect, test } from 'vitest'
import { countDirectories, listDirectories, orderFields } from '../../src/resources/directories/store.ts'
import { toPage } from '../../src/api/page.ts'
import { createDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

test('of all directories, only those are looked at whose names have the words', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`
    insert into directories (name, created_at)
    select case when i % 1000 = 1 then 'Große Zèbras ' else 'Directory ' end || i, now() from generate_series(1, 5000) i`
  await sql`vacuum analyze directories`
  const by = { kind: 'key', user: 0, credential: '' } as const

  for (const plan of ['custom', 'generic']) {
    for (const order_by of ['name', 'id desc', 'created_at']) {
      for (const q of ['zeb', 'ZEBRAS grosse', 'nothing']) {
        const page = toPage({ q, order_by }, orderFields, 'name')
        const found = q === 'nothing' ? 0 : 5

        const reads = await rowsRead(sql, 'directories', async tx => {
          await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
          expect(await countDirectories(tx, by, page)).toBe(found)
          expect(await listDirectories(tx, by, page)).toHaveLength(found)
        })

        expect(reads, `${q} by ${order_by}, ${plan} plan`).toBeLessThan(30)
      }
    }
  }
})
