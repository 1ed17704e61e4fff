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
import type { Author } from '../text/mentions.ts'

/** Members of an object, by name. */
type Shape = z.ZodRawShape

type Body<Members extends Shape> = z.output<z.ZodObject<Members>>

/** Who sends an item, and when. */
export interface PartAuthor extends Author {
  now: () => Date
}

/** Who reads items, and with what at hand. */
export interface PartReader extends Viewer {
  sql: Db
  /** Absent where an item is not what was asked for, but comes with it: then without what is in other apps. */
  apps?: Apps
}

/** The item that has a part. */
export interface PartOwner {
  type: ContentEntity
  id: number
  app_id: number
}

/** Where a part is shown to one reader. */
export interface Showing<About> {
  item: ContentRow
  /** The item's app, and its summary for this reader. */
  state: AppState
  app: object
  viewer: Viewer
  about: About
}

/** How a part comes in with an item: what is sent, and what is written for it. */
export interface PartInput<Value, Wanted, New extends Shape, Changed extends Shape> {
  /** Members of a new item. */
  fields: New
  /** Members of an edit, where absent ones leave the part as it is. */
  changes: Changed
  /** Looks up what a body names, before the command. Called only where it has one of these members. */
  prepare(body: Body<Changed>, author: PartAuthor): Wanted | Promise<Wanted>
  /** How many ids `change` takes at most. Default: none. */
  numbers?(wanted: Wanted): number
  /** What the item has afterwards, within its command: writes rows, or refuses. A new item has had `none`. */
  change(work: Work<unknown>, owner: PartOwner, before: Value, wanted: Wanted): Value
  /** What the item's row says of it. */
  columns(value: Value): Partial<ContentRow>
}

/**
 * One kind of thing that hangs on messages, posts and comments. Its folder declares it, and the list in items/parts.ts
 * names it; what makes, changes and shows items knows none by name. Items nearly always have none of it, which costs
 * them `isOn`.
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
  /** What an item has that has none of it: an empty list, or null. */
  none: Value
  /** Whether the database has to be asked for it, by an item's row. */
  isOn: (row: ContentRow) => boolean
  /**
   * Of items that it is on, by item; those where nothing is found are left out. Plain JSON: it travels in queued deliveries
   * and stored answers. `counter` is a caller whose client counts by itself, and gets all that an answer has room for.
   */
  load(db: Db, items: readonly ContentRow[], counter: Principal | null): Promise<Map<number, Value>>
  /** Whether a `counter` would get no more than this. Default: true. */
  isWhole?(value: Value, row: ContentRow): boolean
  /** Ids of the users whom it names: they are in memory when it is shown. */
  names?(value: Value): number[]
  /** What `show` needs of the reader. It is asked for while the values themselves are still being read. */
  readAbout?(
    items: readonly ContentRow[],
    values: Promise<ReadonlyMap<number, Value>>,
    reader: PartReader,
  ): Promise<About>
  /** As answers show it, and the schema of that. Not asked where there is none. Default: what `present` gives. */
  show?(value: Value, showing: Showing<About>): object
  shown: Shown
  /** As events show it, the same for everybody, and the schema of that. Not asked where there is none. */
  present(value: Value, item: ContentRow, context: PresentationContext): object
  told: Told
  /** Without what anybody wrote: all that webhooks are told. Default: as it is. */
  withoutWords?(value: Value): Value
  /** Removes it for good with its item, within the command that does that. Default: it stays, or goes in the background. */
  remove?(work: Work<unknown>, owner: PartOwner, value: Value): void
  /** Statements that delete it from items of one kind, whose ids are those in `gone`, without their commands. */
  removeFromGone?(db: Db, type: ContentEntity): Fragment[]
  /** Absent: it does not come with items. */
  input?: PartInput<Value, Wanted, New, Changed>
}

/** Declares a part. Its other types follow from the schemas. */
export function part<Value, About = undefined, Wanted = never>() {
  return <
    Shown extends z.ZodType,
    Told extends z.ZodType,
    // Nothing, where it does not come with items.
    New extends Shape = Record<never, never>,
    Changed extends Shape = Record<never, never>,
  >(
    declared: Part<Value, About, Wanted, Shown, Told, New, Changed>,
  ) => declared
}
