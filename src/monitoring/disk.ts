import { statfs } from 'node:fs/promises'

/**
 * The size in bytes of a folder's disk, and how much of it a process may still write; undefined where the system does
 * not say.
 */
export async function readDisk(folder: string): Promise<{ size: number; free: number } | undefined> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder)
    return { size: bsize * blocks, free: bsize * bavail }
  } catch {
    return undefined
  }
}
