import { IdInput } from '../../../api/shape.ts'
import type { Problem } from '../../../lib/errors.ts'
import type { Db } from '../../../postgres/sql.ts'
import type { ContentRow } from '../schema.ts'
import type { PartAuthor, PartInput } from './part.ts'

interface Reference<Row> {
  description: string
  list: (db: Db, ids: number[]) => Promise<Map<number, Row>>
  /** Null where it does not exist, or the author may not use it. */
  claim: (id: number, author: PartAuthor) => Promise<Row | null>
  Unknown: () => Problem
}

/**
 * A reference in a body; `row` is null where the author may not use it, which is refused unless the item has it
 * already.
 */
interface Named<Row> {
  id: number
  row: Row | null
}

const idInput = IdInput.nullish()

/** A part that an item refers to by an id in its row, of which it has one or none. Several items may share one. */
export function referenceBy<Row extends { id: number }, const Column extends 'embed_id' | 'meeting_id'>(
  column: Column,
  { description, list, claim, Unknown }: Reference<Row>,
) {
  const fields = { [column]: idInput.describe(description) } as Record<Column, typeof idInput>
  const input: PartInput<Row | null, Named<Row> | null, typeof fields, typeof fields> = {
    fields,
    changes: fields,
    async prepare(body, author) {
      const id = (body as Partial<Record<Column, number | null>>)[column] ?? null
      return id === null ? null : { id, row: await claim(id, author) }
    },
    change(_work, _owner, before, named) {
      if (named === null || named.id === before?.id) return named && before
      if (named.row === null) throw Unknown()
      return named.row
    },
    columns: row => ({ [column]: row?.id ?? null }),
  }
  return {
    none: null,
    column,
    async load(db: Db, items: readonly ContentRow[]) {
      const rows = await list(
        db,
        items.flatMap(item => item[column] ?? []),
      )
      return new Map(
        items.flatMap(item => {
          const row = rows.get(item[column]!)
          return row === undefined ? [] : [[item.id, row] as const]
        }),
      )
    },
    input,
  }
}
