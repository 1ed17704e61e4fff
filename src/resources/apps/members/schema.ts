import { z } from 'zod'
import { Listing, QueryFlag, Tristate } from '../../../api/page.ts'
import { MemberItem, Ref } from '../schema.ts'

const Access = z.enum(['none', 'read', 'write', 'admin'])

export const MemberPath = z.object({ app: z.string(), user: z.string() })

export const MemberInput = z.object({ access: Access.nullish() })

/** `user` names the user; `id` and `uid` are alternative spellings. */
export const MembersInput = z
  .array(
    z
      .object({ user: Ref.optional(), id: Ref.optional(), uid: Ref.optional(), access: Access.nullish() })
      .transform(({ user, id, uid, access }, context) => {
        const ref = user ?? id ?? uid
        if (ref === undefined) context.addIssue({ code: 'custom', path: ['user'], message: 'is required' })
        return { ref: ref ?? '', access: access ?? ('write' as const) }
      }),
  )
  .max(500)

export const MemberRefs = z.array(Ref).max(500)

export const MemberListing = Listing.extend({
  autocomplete: QueryFlag.optional().describe('true (default): words of q are beginnings of words; false: whole words'),
  agent: QueryFlag.optional().describe('true: only agents; false: only people'),
  member: Tristate.optional().describe(
    'true (default): members; false: people who are not; null: all with access whom the caller can see',
  ),
  system: QueryFlag.optional().describe('true: the system user too'),
})

/** The member items in the order of the request. */
export const MemberItems = z.array(MemberItem)
