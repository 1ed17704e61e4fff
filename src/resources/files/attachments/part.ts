import { toFirstItems } from '../../../api/page.ts'
import { IdInput, pagedList } from '../../../api/shape.ts'
import { invalid } from '../../../lib/errors.ts'
import { prepareBlobs } from '../../blobs/find.ts'
import type { BlobRow } from '../../blobs/schema.ts'
import { part } from '../../content/parts/part.ts'
import { findStarred } from '../../stars/store.ts'
import { noMarks, presentFile, showFile } from '../represent.ts'
import { EventFile, File, type FileRow } from '../schema.ts'
import { listAttachments } from '../store.ts'
import { addAttachments, removeAttachments } from './attachments.ts'
import { z } from 'zod'

/** As many as one request may attach: all of them come with the item. */
const mostAttachments = 50

interface Wanted {
  /** Attached files that stay; absent: all of them. */
  kept: number[] | undefined
  blobs: BlobRow[]
}

const blobs = z.array(IdInput).max(mostAttachments).nullish()

/** The files that are attached to an item. Of a caller it is known which of them they starred. */
export const attachmentsPart = part<FileRow[], ReadonlySet<number>, Wanted>()({
  none: [],
  column: 'attachment_count',
  load(db, items) {
    const ids = items.map(({ id }) => id)
    return listAttachments(db, ids)
  },
  names: files => files.map(({ created_by }) => created_by),
  async readAbout(_items, values, { sql, by }) {
    // Files that are starred are rarely attachments.
    const starred = [...(await values()).values()].flat().flatMap(({ id, star_count }) => (star_count > 0 ? id : []))
    return by.kind !== 'user' || starred.length === 0 ? noMarks.starred : findStarred(sql, by.user, starred)
  },
  shown: pagedList(File),
  show: (files, { app, viewer, about: starred }) =>
    toFirstItems(files.map(file => ({ ...showFile(file, viewer, { ...noMarks, starred }), app }))),
  told: pagedList(EventFile).optional(),
  present: (files, _item, context) => toFirstItems(files.map(file => presentFile(file, context))),
  remove: (work, _owner, files) => removeAttachments(work, files),
  input: {
    fields: { blobs: blobs.describe('Blobs of the caller, each of which becomes an attachment') },
    changes: {
      blobs: blobs.describe('Blobs to attach beside what is attached'),
      attachments: blobs.describe('The attached files to keep; absent: all of them'),
    },
    async prepare({ blobs, attachments }, author) {
      const kept = attachments === undefined ? undefined : (attachments ?? [])
      return { kept, blobs: await prepareBlobs(blobs ?? [], author) }
    },
    numbers: ({ blobs }) => blobs.length,
    change(work, owner, before, { kept: wanted, blobs }) {
      const unknown = wanted?.filter(id => before.every(file => file.id !== id)) ?? []
      if (unknown.length > 0) throw invalid({ attachments: unknown.map(id => `there is no file ${id} attached`) })
      const [kept, gone] = divide(before, ({ id }) => wanted === undefined || wanted.includes(id))
      if (kept.length + blobs.length > mostAttachments)
        throw invalid({ blobs: [`must be at most ${mostAttachments} in all`] })
      removeAttachments(work, gone)
      // In their order, and then the new ones.
      return [...kept, ...addAttachments(work, owner, blobs)]
    },
    columns: ({ length }) => ({ attachment_count: length }),
  },
})

function divide<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter(item => !isFirst(item))]
}
