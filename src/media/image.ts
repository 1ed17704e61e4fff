/** What is read by its content as a picture: by their names in sharp. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff' | 'svg' | 'bmp'

export interface Image {
  format: ImageFormat
  width: number
  height: number
}

/** A smaller version of a picture. All are WebP, made once and kept beside their original. */
export type Rendition = 'thumbnail' | 'preview' | 'avatar'

/** Larger pictures are not decoded, which would take more than 200 MB of memory: they have no smaller versions. */
export const pixelLimit = 50_000_000

/** What takes more to be drawn is data rather than a picture; it is served as it is. */
export const svgLimitBytes = 2 * 1024 * 1024
