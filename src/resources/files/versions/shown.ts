import type { FileRow, VersionRow } from '../schema.ts'

/** True where the file has the version in its list. The versions of external files are external too. */
export function isShown({ rev, blob }: FileRow, version: VersionRow): boolean {
  return version.rev === rev || blob.provider === null
}

/** The number of listed versions: the newest ones. */
export function countShown({ version_count, blob }: FileRow): number {
  return blob.provider === null ? version_count : 1
}
