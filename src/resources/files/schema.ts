import { z } from 'zod'
import { Problem, problem } from '../../lib/errors.ts'
import { IdInput, Int, isStorable, Metadata, MetadataInput, pagedList, TagsInput, Timestamp } from '../../api/shape.ts'
import { Listing, QueryFlag } from '../../api/page.ts'
import { AppRefs, AppSummary, EventApp } from '../apps/schema.ts'
import type { BlobRow } from '../blobs/schema.ts'
import { toFileName } from '../blobs/schema.ts'
import { UserSummary } from '../users/schema.ts'
import { CreatedBy, type ContentRow } from '../content/schema.ts'
import { fileKinds, previewFormats } from './kinds.ts'

const Name = z
  .string()
  .max(256)
  .refine(isStorable, 'cannot be stored')
  .transform(toFileName)
  .refine(name => name !== '', 'must not be empty')

export const NewFile = z.object({
  blob_id: IdInput.describe('A blob of the caller'),
  name: Name.nullish().describe('Default: the name of the blob'),
  metadata: MetadataInput.nullish(),
  tags: TagsInput.nullish(),
  replace: z.boolean().nullish().describe('true: becomes the new version of a file that has the name'),
})
export type NewFile = z.output<typeof NewFile>

export const FileUpdate = z.object({
  name: Name.optional(),
  blob_id: IdInput.optional().describe('New content'),
  metadata: MetadataInput.nullish(),
  tags: TagsInput.nullish(),
  backup: z.boolean().nullish().describe('true: the content so far is kept as a version'),
})
export type FileUpdate = z.output<typeof FileUpdate>

/** A file of a files app, or an attachment of the item `parent`. */
export const File = z
  .object({
    id: Int,
    rev: Int.describe('Names the version'),
    app: AppSummary,
    parent: z.object({ id: Int, type: z.enum(['message', 'post', 'comment', 'file']) }).optional(),
    name: z.string(),
    kind: z.enum(fileKinds),
    media_type: z.string(),
    width: Int.optional(),
    height: Int.optional(),
    size: Int,
    metadata: Metadata.optional(),
    tags: z.array(z.string()).optional(),
    provider: z.string().optional(),
    raw: z.string().optional(),
    download_url: z.string().optional(),
    embed_url: z.string().optional(),
    external_url: z.string().optional(),
    preview_format: z.enum(previewFormats),
    preview_url: z.string().optional(),
    thumbnail_url: z.string().optional(),
    comments: z.object({ count: Int }).optional(),
    is_subscribed: z.boolean(),
    is_starred: z.boolean(),
    is_trashed: z.boolean(),
    created_at: Timestamp,
    created_by: UserSummary,
    updated_at: Timestamp.optional(),
    updated_by: UserSummary.optional(),
  })
  .meta({ id: 'File' })
export const Files = pagedList(File)

/** A file in events: without members that differ between readers. */
export const EventFile = File.omit({ is_subscribed: true, is_starred: true }).extend({ app: EventApp }).meta({
  id: 'EventFile',
})

export const FileQuery = z.object({ trashed: QueryFlag.optional() })
export const FileListing = Listing.extend({ created_by: CreatedBy })
export const AllFilesListing = FileListing.extend({ app: AppRefs })
export const VersionPath = z.object({ id: z.string(), rev: z.string() })

export type AttachedTo = 'message' | 'post' | 'comment'

/** The blob of a file's version. */
export type FileBlob = Omit<BlobRow, 'created_at'>

/** A row of `files`, with the blob of its current version. */
export interface FileRow extends Pick<
  ContentRow,
  | 'id'
  | 'app_id'
  | 'parent_id'
  | `${'comment' | 'made' | 'star'}_count`
  | `${'created' | 'updated'}_${'at' | 'by'}`
  | 'trashed_at'
> {
  metadata: Record<string, unknown> | null
  tags: string[]
  /** The type of item that it is attached to; null for a file of a files app. */
  parent_type: AttachedTo | null
  rev: number
  name: string
  /** Of the current version, as a sort key. */
  size: number
  version_count: number
  blob: FileBlob
}

/** A row of `file_versions`, with its blob. */
export interface VersionRow {
  file_id: number
  rev: number
  app_id: number
  created_at: Date
  created_by: number
  blob: FileBlob
}

const isTaken = { errors: { name: ['is the name of another file'] } }
export const NameTaken = problem(409, 'file-name-taken', 'A file with this name already exists.', isTaken)

/** NameTaken with the name. */
export function nameTaken(name: string): Problem {
  return new Problem(NameTaken.status, NameTaken.code, `A file named "${name}" already exists.`, { ...isTaken, name })
}
export const IsAttachment = problem(400, 'file-is-attachment', 'An attachment goes with what it is attached to.')
export const IsCurrentVersion = problem(400, 'file-version-is-current', 'The current version cannot be deleted.')
