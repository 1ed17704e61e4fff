import type { Bytes } from './bytes.ts'
import { DiskBytes } from './bytes-disk.ts'
import type { S3Settings } from './bytes-s3.ts'
import { openDirectory } from '../lib/data-directory.ts'

export interface BytesSettings {
  /** Where bytes are kept on this machine. */
  folder: string
  /** Null keeps them in the folder. */
  s3: S3Settings | null
}

/** Where this node keeps bytes. StartFault where that is a folder that cannot be made or written. */
export async function openBytes({ folder, s3 }: BytesSettings): Promise<Bytes> {
  if (s3 === null) return new DiskBytes(openDirectory(folder))
  // Half a second of loading that most nodes have no use for.
  const { S3Bytes } = await import('./bytes-s3.ts')
  return new S3Bytes(s3)
}
