/** Formats that are recognised as pictures by content; the names are sharp's. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff' | 'svg' | 'bmp'

export interface Image {
  format: ImageFormat
  width: number
  height: number
}

/** A smaller version of a picture, as WebP, made once and stored beside the original. */
export type Rendition = 'thumbnail' | 'preview' | 'avatar'

/** Larger pictures have no renditions: decoding them would take more than 200 MB of memory. */
export const pixelLimit = 50_000_000

/** A larger SVG is data rather than a picture; it is served as it is. */
export const svgLimitBytes = 2 * 1024 * 1024
