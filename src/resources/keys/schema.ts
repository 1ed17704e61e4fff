import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { Int, MomentInput, pagedList, Timestamp, VisibleInput } from '../../api/shape.ts'
import { Listing, QueryFlag } from '../../api/page.ts'

/** Ten years. A key for longer needs no expiry. */
const longestSeconds = 315_360_000

const Name = VisibleInput(256)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')
  .describe('What the key is for')

export const NewKey = z
  .object({
    name: Name,
    expires_at: MomentInput.optional().describe('When it ends; without it and expires_in, never'),
    expires_in: z
      .int()
      .min(1)
      .max(longestSeconds)
      .optional()
      .describe('When it ends, in seconds from now; instead of expires_at'),
  })
  .refine(({ expires_at, expires_in }) => expires_at === undefined || expires_in === undefined, {
    path: ['expires_in'],
    message: 'must not be given together with expires_at',
  })

export const KeyChange = z.object({
  name: Name.optional(),
  expires_at: MomentInput.nullish().describe('Earlier or later than before; null: it does not end'),
})

export const KeyPath = z.object({ id: z.string() })

export const KeyListing = Listing.pick({ q: true, order_by: true, skip: true, take: true, count_only: true }).extend({
  revoked: QueryFlag.optional().describe('true: only keys that were revoked; false: only the others'),
})

export const KeyRevocation = z.object({
  force: QueryFlag.optional().describe('true: also the key of this very request'),
})

const shape = {
  id: Int,
  name: z.string(),
  prefix: z.string().optional().describe('The first characters; unknown of a key that was made before they were kept'),
  created_at: Timestamp,
  expires_at: Timestamp.optional(),
}

export const Key = z
  .object({
    ...shape,
    revoked_at: Timestamp.optional(),
    last_used_at: Timestamp.optional().describe('To a minute'),
    is_current: z.boolean().describe('It is the key of this request'),
  })
  .meta({ id: 'Key' })
export const Keys = pagedList(Key)

export const MadeKey = z
  .object({
    ...shape,
    key: z
      .string()
      .optional()
      .describe('Shown this once: absent where a request is repeated under its Idempotency-Key'),
  })
  .meta({ id: 'MadeKey' })

export const LastKey = problem(409, 'last-key', 'This is the last valid API key. Make another one first.')
export const OwnKey = problem(
  409,
  'own-key',
  'This is the API key of the request itself. With force=true it is revoked nevertheless.',
)
export const KeyIsRevoked = problem(409, 'key-is-revoked', 'This API key was revoked, which is for good.')
