import { describe, expect, test } from 'vitest'
import type { DecidedEntry } from '../../src/engine/commit/flush/decide.ts'
import { Draft } from '../../src/engine/draft.ts'
import { Recent } from '../../src/engine/recent.ts'
import { AppState, blankMember, type AppRow } from '../../src/engine/state.ts'
import { saveApps, saveHeads, saveMarks, saveMembers } from '../../src/engine/store.ts'
import { toStatement } from '../../src/engine/commit/flush/write-set.ts'
import type { Batch } from '../../src/postgres/batch.ts'

const someone = 7

/** A draft of an app with one member, in which nothing has happened yet. */
function openDraft(): Draft {
  const columns = Object.keys(saveApps.columns).map(column => [column, null])
  const app = { ...Object.fromEntries(columns), id: 1, head_rev: 10 } as AppRow
  return new Draft(new AppState(app, [blankMember(app.id, someone)], new Recent([], true)))
}

const batchesOf = (draft: Draft, batches: Batch<never>[]) => {
  const statement = toStatement(
    [{ draft, results: [], events: [], writes: [] } as unknown as DecidedEntry],
    new Date(),
    'exact',
  )
  return batches.filter(batch => statement.has(batch))
}

const columnsBeside = ({ columns }: { columns: object }, keys: string[]) =>
  Object.entries(columns).filter(([column]) => !keys.includes(column)) as [string, string][]

/** Something else than null, for each type of column. */
const others: Record<string, unknown> = {
  bigint: 5,
  text: 'other',
  'text[]': ['other'],
  jsonb: { other: true },
  boolean: true,
  timestamptz: new Date(),
}

describe('where one column of an app changes, it is written', () => {
  test.each(columnsBeside(saveApps, ['id', 'known_rev']))('%s', (column, type) => {
    const draft = openDraft()
    draft.app = { ...draft.app, [column]: others[type] }
    expect(batchesOf(draft, [saveHeads, saveApps])).toEqual([column in saveHeads.columns ? saveHeads : saveApps])
  })
})

describe('where one column of a member changes, it is written', () => {
  test.each(columnsBeside(saveMembers, ['app_id', 'user_id']))('%s', (column, type) => {
    const draft = openDraft()
    draft.app = { ...draft.app }
    draft.putMember({ ...blankMember(draft.app.id, someone), [column]: others[type] })
    expect(batchesOf(draft, [saveMarks, saveMembers])).toEqual([column in saveMarks.columns ? saveMarks : saveMembers])
  })
})
