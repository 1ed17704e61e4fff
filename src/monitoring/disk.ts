import { statfs } from 'node:fs/promises'

/** Bytes of the disk that a folder lies on, and how many of them a process may still write; undefined where nothing says so. */
export async function readDisk(folder: string): Promise<{ size: number; free: number } | undefined> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder)
    return { size: bsize * blocks, free: bsize * bavail }
  } catch {
    return undefined
  }
}
