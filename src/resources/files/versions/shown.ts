import type { FileRow, VersionRow } from '../schema.ts'

/** Whether a file shows one of its versions. What is kept elsewhere has its history there, and only itself here. */
export function isShown({ rev, blob }: FileRow, version: VersionRow): boolean {
  return version.rev === rev || blob.provider === null
}

/** How many versions a file shows: the newest so many. */
export function countShown({ version_count, blob }: FileRow): number {
  return blob.provider === null ? version_count : 1
}
