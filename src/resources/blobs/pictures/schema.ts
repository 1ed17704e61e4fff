import { z } from 'zod'

/** The body limit where a data URI may be included. */
export const pictureBodyLimitBytes = 16 * 1024 * 1024

/** A picture in a body. */
export const PictureInput = z
  .union([z.int().nonnegative().transform(String), z.string().max(8 * 1024 * 1024)])
  .nullish()
  .meta({ type: ['string', 'integer', 'null'], description: 'Public URL, base64 data URI or blob id; null removes it' })
