import type { Work } from '../../../engine/command.ts'
import type { BlobRow } from '../../blobs/schema.ts'
import { removeStarsOf } from '../../stars/store.ts'
import type { AttachedTo, FileRow } from '../schema.ts'
import { insertFile, removeFile } from '../store.ts'
import { insertVersion, removeVersionsOf } from '../versions/store.ts'

/** Attaches blobs to an item, in the item's own commit. Takes a number for each. */
export function addAttachments(
  work: Work<unknown>,
  parent: { type: AttachedTo; id: number },
  blobs: readonly BlobRow[],
): FileRow[] {
  return blobs.map(({ created_at: _, ...blob }) => {
    const id = work.nextId()
    const row = newFile(work, { id, name: blob.name, metadata: null, tags: [], blob })
    const file: FileRow = { ...row, parent_type: parent.type, parent_id: parent.id }
    work.write(insertFile, file)
    work.write(insertVersion, toVersion(work, file))
    return file
  })
}

/** Removes attachments for good, in the commit that removes or edits their item. */
export function removeAttachments(work: Work<unknown>, files: readonly Pick<FileRow, 'id' | 'star_count'>[]): void {
  for (const { id, star_count } of files) {
    if (star_count > 0) work.write(removeStarsOf, { id })
    work.write(removeFile, { id })
    work.write(removeVersionsOf, { id })
  }
}

type Draft = Pick<FileRow, 'id' | 'name' | 'metadata' | 'tags' | 'blob'>

/** A file by the caller, in its first version, which has the number of the file itself. */
export function newFile({ app, by, now }: Work<unknown>, draft: Draft): FileRow {
  return {
    ...draft,
    app_id: app.id,
    parent_type: null,
    parent_id: null,
    rev: draft.id,
    size: draft.blob.size,
    version_count: 1,
    comment_count: 0,
    made_count: 0,
    star_count: 0,
    created_at: now,
    created_by: by.user,
    updated_at: null,
    updated_by: null,
    trashed_at: null,
  }
}

/** The row of a file's current version, made by the caller. */
export function toVersion({ by, now }: Work<unknown>, { id, rev, app_id, blob }: FileRow) {
  return { file_id: id, rev, app_id, blob_id: blob.id, created_at: now, created_by: by.user }
}
