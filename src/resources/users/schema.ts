import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { ReferenceInput } from '../../api/reference.ts'
import {
  Int,
  isTyped,
  LineInput,
  Metadata,
  MetadataInput,
  pagedList,
  TagsInput,
  Timestamp,
  UidInput,
} from '../../api/shape.ts'
import { PictureInput } from '../blobs/pictures/schema.ts'
import { Blob } from '../blobs/schema.ts'
import { Listing, QueryFlag, Tristate } from '../../api/page.ts'

export const UserPath = z.object({ user: z.string().describe('Id or uid of a user') })

export const UidPath = z.object({ uid: z.string() })

/** What people are known by beside their uid. */
const Typed = LineInput(256).refine(name => name === null || isTyped[0](name), isTyped[1])

export const UserUpdate = z.object({
  uid: UidInput.nullish().describe(
    'Unique among users and agents by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \\ ? # %`; `u` and digits only with the own id',
  ),
  name: LineInput(256).nullish().describe('Full displayable name'),
  given_name: LineInput(64).nullish(),
  middle_name: LineInput(64).nullish(),
  family_name: LineInput(64).nullish(),
  nickname: LineInput(32).nullish(),
  email: Typed.refine(email => email === null || /^[^\s@]+@[^\s@]+$/.test(email), {
    message: 'is not an e-mail address',
  }).nullish(),
  phone_number: LineInput(32).nullish(),
  username: Typed.nullish().describe('For authentication; unique by its fold'),
  password: z
    .string()
    .max(256)
    .refine(password => password.length >= 8, { message: 'must be at least 8 characters' })
    .nullish()
    .describe('For authentication; never returned, null removes it'),
  comment: z.string().max(1024).nullish(),
  picture: PictureInput,
  directories: z.array(ReferenceInput).max(500).nullish().describe('Ids or names; replaces the whole set'),
  metadata: MetadataInput.nullish(),
  tags: TagsInput.nullish(),
})
export type UserUpdate = z.output<typeof UserUpdate>

export const NewUser = UserUpdate.extend({ uid: UidInput })

export const UserQuery = z.object({ trashed: Tristate.optional().describe('true or null: also when it is trashed') })

/** The parameters of lists of users: of all, or of a directory's members. */
export const PersonListing = Listing.extend({
  autocomplete: QueryFlag.optional().describe('true (default): words of q may be beginnings; false: whole words'),
  agent: QueryFlag.optional().describe('true: only agents; false: only people'),
  directory: z.string().optional().describe('Id or name: only people in that directory'),
  system: QueryFlag.optional().describe('true: the system user too'),
})
export type PersonListing = z.output<typeof PersonListing>

export const DirectoryRef = z.object({ id: Int, name: z.string() }).meta({ id: 'DirectoryRef' })

/** A user in lists, and as an author or actor. */
export const UserSummary = z
  .object({
    id: Int,
    uid: z.string().optional(),
    name: z.string(),
    given_name: z.string().optional(),
    middle_name: z.string().optional(),
    family_name: z.string().optional(),
    nickname: z.string().optional(),
    email: z.string().optional(),
    phone_number: z.string().optional(),
    username: z.string().optional().describe('Only for API keys, and for oneself'),
    avatar_url: z.string().optional(),
    directories: z.array(DirectoryRef).optional(),
    presence: z
      .enum(['active', 'away'])
      .optional()
      .describe('Absent for the system user and the deleted user, and where a user is named as author or voter'),
    comment: z.string().optional(),
    metadata: Metadata.optional(),
    tags: z.array(z.string()).optional(),
    is_agent: z.literal(true).optional().describe('Absent for people'),
    is_followed: z.boolean().optional().describe('By the caller; absent for API keys'),
    is_trashed: z.boolean(),
    created_at: Timestamp.optional(),
    updated_at: Timestamp.optional(),
  })
  .meta({ id: 'UserSummary' })

/** A user in short: who acted or reacted. */
export const ActorRef = UserSummary.pick({ id: true, uid: true, name: true, avatar_url: true, is_agent: true }).meta({
  id: 'ActorRef',
})

/** A detailed user. */
export const User = UserSummary.extend({ picture: Blob.optional() }).meta({ id: 'User' })

export const UserList = pagedList(z.union([User, UserSummary]))

export const SpecialUser = problem(403, 'special-user', 'The system user and the deleted user cannot be changed.')
