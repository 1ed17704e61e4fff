import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pixelmatch from 'pixelmatch'
import sharp from 'sharp'

const artefacts = join(import.meta.dirname, '../artefacts')

/** Pixels that may differ: edges that fall between two pixels. */
const tolerated = 40

/**
 * Compares a PNG with the picture that is kept at a path without extension. Returns in words how they differ; undefined if
 * they do not. Where none is kept, it is made (not in CI) and nothing is compared: delete one to have it made anew, and look at it.
 * What differs is drawn under test/artefacts.
 */
export async function differFrom(path: string, png: Buffer): Promise<string | undefined> {
  const kept = `${path}.webp`
  if (!existsSync(kept)) {
    if (process.env.CI !== undefined) return `${path}: no picture is kept`
    mkdirSync(dirname(kept), { recursive: true })
    await sharp(png).webp({ lossless: true, effort: 6 }).toFile(kept)
    return undefined
  }
  const [now, before] = await Promise.all([png, kept].map(read))
  const { width, height } = now!.info
  if (width !== before!.info.width || height !== before!.info.height)
    return `${path}: ${width} × ${height} instead of ${before!.info.width} × ${before!.info.height}`
  const drawn = Buffer.alloc(now!.data.length)
  const count = pixelmatch(before!.data, now!.data, drawn, width, height)
  if (count <= tolerated) return undefined
  mkdirSync(artefacts, { recursive: true })
  const name = join(artefacts, `${path.split('/').at(-1)}-differs.png`)
  await sharp(drawn, { raw: { width, height, channels: 4 } })
    .png()
    .toFile(name)
  return `${path}: ${count} pixels differ, see ${name}`
}

const read = (picture: Buffer | string) => sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
