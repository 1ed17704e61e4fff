import type { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import type { Apps } from '../../../engine/apps.ts'
import type { Work } from '../../../engine/command.ts'
import type { PresentationContext } from '../../../engine/event.ts'
import type { AppState } from '../../../engine/state.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import type { Viewer } from '../../apps/represent.ts'
import type { ContentEntity } from '../kind.ts'
import type { ContentRow } from '../schema.ts'
import type { Served } from '../../route.ts'
import type { Author } from '../text/mentions.ts'

/** Members of an object, by name. */
type Shape = z.ZodRawShape

type Body<Members extends Shape> = z.output<z.ZodObject<Members>>

/** The author of an item, and the time. */
export type PartAuthor = Author & Served<'now'>

/** The reader of items, and the data at hand. */
export interface PartReader extends Viewer {
  sql: Db
  /** Absent where an item comes along with the requested one: then data of other apps is left out. */
  apps?: Apps
}

/** The item that has a part. */
export interface PartOwner {
  type: ContentEntity
  id: number
  app_id: number
}

/** Context of showing a part to one reader. */
export interface Showing<About> {
  item: ContentRow
  /** The item's app, and its summary for this reader. */
  state: AppState
  app: object
  viewer: Viewer
  about: About
}

/** How a part is written: its input members, and its rows. */
export interface PartInput<Value, Wanted, New extends Shape, Changed extends Shape> {
  /** Members of a new item. */
  fields: New
  /** Members of an edit; absent ones leave the part unchanged. */
  changes: Changed
  /** Resolves the references in a body, before the command. Called only where the body has one of the members. */
  prepare(body: Body<Changed>, author: PartAuthor): Wanted | Promise<Wanted>
  /** The most ids that `change` uses. Default: none. */
  numbers?(wanted: Wanted): number
  /** The value after the write, within the item's command: writes rows, or refuses. A new item had `none`. */
  change(work: Work<unknown>, owner: PartOwner, before: Value, wanted: Wanted): Value
  /** The columns of the item's row for this part. */
  columns(value: Value): Partial<ContentRow>
}

/**
 * A kind of part of messages, posts and comments, declared by its own folder and listed in items/parts.ts; code that
 * makes, changes and shows items knows no kind by name. Nearly all items have no parts, which costs them only a look at columns.
 */
export interface Part<
  Value = unknown,
  About = unknown,
  Wanted = unknown,
  Shown extends z.ZodType = z.ZodType,
  Told extends z.ZodType = z.ZodType,
  New extends Shape = Shape,
  Changed extends Shape = Shape,
> {
  /** The empty value: an empty list, or null. */
  none: Value
  /** The column of the item's row that is neither null nor 0 where the database has to be read. */
  column: keyof ContentRow
  /** Whether it has to be, where the column is set. Default: it has. */
  isMarked?(row: ContentRow): boolean
  /**
   * Loads the values of items for which it is on, by item; items without one are left out. Values are plain JSON,
   * because they are stored in queued deliveries and answers. `counter`: a caller whose client counts by itself, and
   * gets as many as a response can hold.
   */
  load(db: Db, items: readonly ContentRow[], counter: Principal | null): Promise<Map<number, Value>>
  /** True where a `counter` would get no more than this. Default: true. */
  isWhole?(value: Value, row: ContentRow): boolean
  /** The ids of the users whom it names; they are in memory when it is shown. */
  names?(value: Value): number[]
  /** Loads what `show` needs about the reader. The values may still be being read; `values` waits for them. */
  readAbout?(
    items: readonly ContentRow[],
    values: () => Promise<ReadonlyMap<number, Value>>,
    reader: PartReader,
  ): Promise<About>
  /** The value in responses, and its schema. Not called for an empty value. Default: as in events. */
  show?(value: Value, showing: Showing<About>): object
  shown: Shown
  /**
   * True where events show the number in the column even if the value is empty: in a replay, the value is without what
   * has gone since. Default: false.
   */
  isCounted?: boolean
  /** The value in events, equal for all readers, and its schema. Not called for an empty value that is not counted. */
  present(value: Value, item: ContentRow, context: PresentationContext): object
  told: Told
  /** The value without users' texts, for webhooks. Default: unchanged. */
  withoutWords?(value: Value): Value
  /**
   * Removes it for good with its item, within the item's command. Default: it stays, or is removed in the background.
   */
  remove?(work: Work<unknown>, owner: PartOwner, value: Value): void
  /** Statements that delete it from deleted items of one kind, whose ids are in `gone`. */
  removeFromGone?(db: Db, type: ContentEntity): Fragment[]
  /** Absent: it is not part of an item's input. */
  input?: PartInput<Value, Wanted, New, Changed>
}

/** Declares a kind of part. Its other types follow from the schemas. */
export function part<Value, About = undefined, Wanted = never>() {
  return <
    Shown extends z.ZodType,
    Told extends z.ZodType,
    // Empty, where it is not part of an item's input.
    New extends Shape = Record<never, never>,
    Changed extends Shape = Record<never, never>,
  >(
    declared: Part<Value, About, Wanted, Shown, Told, New, Changed>,
  ) => declared
}
