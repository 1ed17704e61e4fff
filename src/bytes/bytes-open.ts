import type { Bytes } from './bytes.ts'
import { DiskBytes } from './bytes-disk.ts'
import type { S3Settings } from './bytes-s3.ts'
import { openFolder } from './blob-folder.ts'

export interface BytesSettings {
  /** A local folder for bytes. */
  folder: string
  /** Null: bytes are kept in the folder. */
  s3: S3Settings | null
}

/** Opens the store that the settings name. StartFault where its folder cannot be created or written. */
export async function openBytes({ folder, s3 }: BytesSettings): Promise<Bytes> {
  if (s3 === null) return new DiskBytes(openFolder(folder))
  // Loading the module takes half a second, which most nodes need not spend.
  const { S3Bytes } = await import('./bytes-s3.ts')
  return new S3Bytes(s3)
}
