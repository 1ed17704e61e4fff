import { z } from 'zod'

/** What a body that may hold a data URI can take. */
export const pictureBodyLimitBytes = 16 * 1024 * 1024

/** How a picture is given in a body. */
export const PictureInput = z
  .union([z.int().nonnegative().transform(String), z.string().max(8 * 1024 * 1024)])
  .nullish()
  .meta({ type: ['string', 'integer', 'null'], description: 'Public URL, base64 data URI or blob id; null removes it' })
