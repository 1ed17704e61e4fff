import type { Tx } from '../../../postgres/sql.ts'
import { toFields } from '../../../resources/apps/content-fields.ts'
import { kinds } from '../../../resources/content/kinds.ts'
import { writeTerms } from '../../../resources/content/terms.ts'
import type { LineOf } from '../format.ts'
import { fault, type Numbered } from '../lines.ts'
import type { Places } from './places.ts'
import type { Refs } from './refs.ts'
import { drawIds, insertRows, type Numbers } from './rows.ts'
import type { ContentLine, Texts } from './texts.ts'

export type ItemLine = ContentLine | Numbered<LineOf<'file'>>

interface Adding {
  tx: Tx
  refs: Refs
  numbers: Numbers
  places: Places
  texts: Texts
  /** Where the ids of items whose counts have changed are put. */
  touch: (type: string, id: number) => void
}

/** Adds messages, posts, comments and files that were not added before, in their order. Returns how many. */
export async function addItems(adding: Adding, lines: readonly ItemLine[]): Promise<number> {
  const { tx, refs } = adding
  const missing = lines.filter(({ id }) => refs.find('item', id) === undefined)
  const sizes = await findSizes(adding, missing)
  const rows: Record<string, object[]> = {
    messages: [],
    posts: [],
    comments: [],
    files: [],
    file_versions: [],
    options: [],
  }
  const [embeds, meetings]: NewPart[][] = [[], []]
  let count = 0
  for (const line of missing) {
    // Of two lines with one id, the first counts, as over two runs.
    if (refs.find('item', line.id) !== undefined) continue
    count++
    const place = placeItem(adding, line)
    if (line.type === 'file') addFile(adding, line, place, sizes, rows)
    else {
      const row = toRow(adding, line, place)
      rows[`${line.type}s`]!.push(row)
      const { embed, meeting, number } = line
      if (embed) embeds!.push({ part: embed, item: row, column: 'embed_id', line: number })
      if (meeting) meetings!.push({ part: meeting, item: row, column: 'meeting_id', line: number })
      for (const [position, text] of (line.options ?? []).entries()) {
        const id = adding.numbers.next()
        rows.options!.push({
          id,
          app_id: place.app_id,
          item_id: place.id,
          item_type: line.type,
          position,
          text,
          vote_count: 0,
        })
        adding.touch(line.type, place.id)
      }
    }
  }
  await addParts(adding, 'embeds', embeds!)
  await addParts(adding, 'meetings', meetings!)
  for (const [table, some] of Object.entries(rows)) await insertRows(tx, table, some)
  for (const { store } of Object.values(kinds)) {
    const ids = (rows[store.table] as { id: number }[]).map(({ id }) => id)
    if (ids.length > 0) await writeTerms(tx, store.table, ids)
  }
  return count
}

/** Gives an item its id, and requires that it fits where it is to be. */
function placeItem({ refs, numbers, places, touch }: Adding, line: ItemLine) {
  const { number, created_at } = line
  const app_id = refs.need('app', line.app, number).id
  const ref = line.type === 'comment' ? line.parent : line.type === 'file' ? line.item : null
  const parent_id = refs.idOf('item', ref, number)
  const parent = parent_id === null ? null : places.find(parent_id)!
  const isAttachment = line.type === 'file' && parent !== null
  const app = places.findApp(app_id, isAttachment ? null : created_at, number)
  const parents = line.type === 'comment' ? ['post', 'file'] : ['message', 'post', 'comment']
  if (parent !== null && (parent.app_id !== app_id || !parents.includes(parent.type)))
    throw fault(number, `A ${line.type} cannot belong to the ${parent.type} ${ref}.`)
  const fits = line.type === 'file' ? app.type === 'files' : kinds[line.type].fits(app.type)
  if (parent === null && !fits) throw fault(number, `A ${line.type} cannot be in an app of type ${app.type}.`)
  const id = numbers.next()
  const place = {
    id,
    app_id,
    parent_type: parent?.type ?? null,
    parent_id,
    created_at,
    created_by: refs.need('user', line.created_by, number).id,
    updated_at: line.updated_at ?? null,
    updated_by: refs.idOf('user', line.updated_by, number),
    trashed_at: line.trashed_at ?? null,
  }
  places.add({ ...place, type: line.type })
  refs.add(line.type, line.id, id)
  if (parent !== null) touch(parent.type, parent_id!)
  return place
}

type Place = ReturnType<typeof placeItem>

function toRow({ texts }: Adding, line: ContentLine, place: Place) {
  return {
    ...place,
    ...toFields(line),
    ...texts.render(line),
    embed_id: null as number | null,
    meeting_id: null as number | null,
    attachment_count: 0,
    option_count: 0,
    reaction_count: 0,
    comment_count: 0,
    made_count: 0,
    star_count: 0,
  }
}

function addFile(
  { refs, numbers }: Adding,
  line: Numbered<LineOf<'file'>>,
  place: Place,
  sizes: Map<number, number>,
  rows: Record<string, object[]>,
): void {
  const versions = line.versions.map(({ blob, created_at, created_by }) => ({
    file_id: place.id,
    rev: numbers.next(),
    app_id: place.app_id,
    blob_id: refs.need('blob', blob, line.number).id,
    created_at,
    created_by: refs.need('user', created_by, line.number).id,
  }))
  const { rev, blob_id } = versions.at(-1)!
  const counts = { version_count: versions.length, comment_count: 0, made_count: 0, star_count: 0 }
  const given = { name: line.name, metadata: line.metadata ?? null, tags: line.tags ?? [] }
  rows.files!.push({ ...place, ...counts, ...given, rev, size: sizes.get(blob_id) ?? 0 })
  rows.file_versions!.push(...versions)
}

async function findSizes({ tx, refs }: Adding, lines: ItemLine[]): Promise<Map<number, number>> {
  const blobs = lines.flatMap(line => (line.type === 'file' ? line.versions.map(({ blob }) => blob) : []))
  if (blobs.length === 0) return new Map()
  const ids = blobs.flatMap(ref => refs.find('blob', ref)?.id ?? [])
  const rows = await tx<{ id: number; size: number }[]>`select id, size from blobs where id = any(${ids}::bigint[])`
  return new Map(rows.map(({ id, size }) => [id, size]))
}

interface NewPart {
  part: NonNullable<ContentLine['embed'] | ContentLine['meeting']>
  /** The row of its item, and the column that names it. */
  item: Record<string, unknown>
  column: string
  line: number
}

/** Inserts embeds or meetings, and puts their ids into the rows of their items. */
async function addParts({ tx, refs }: Adding, table: string, parts: NewPart[]): Promise<void> {
  const ids = await drawIds(tx, table, parts.length)
  const rows = parts.map(({ part: { created_by, ...part }, item, column, line }, at) => {
    item[column] = ids[at]
    const { image, ...row } = part as typeof part & { image?: string | null }
    const embed = table === 'embeds' && { image_id: refs.idOf('blob', image, line), actions: [] }
    const given = Object.entries(row).filter(([, value]) => value !== null && value !== undefined)
    const author = refs.need('user', created_by, line).id
    return { ...embed, ...Object.fromEntries(given), id: ids[at], created_by: author, checked_at: new Date() }
  })
  await insertRows(tx, table, rows)
}
