import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { isBlank } from '../../lib/name.ts'
import { Int, Metadata, MetadataInput, NameInput, pagedList, TagsInput, Timestamp, UidInput } from '../../api/shape.ts'
import { Listing, QueryFlag } from '../../api/page.ts'
import { PictureInput } from '../blobs/pictures/schema.ts'
import { Blob } from '../blobs/schema.ts'
import { ContentSummary } from './content-fields.ts'
import { UserSummary } from '../users/schema.ts'
import { guids, kinds, toKind, type Kind } from './kinds.ts'

export const AppPath = z.object({ app: z.string() })
export const UidPath = z.object({ uid: z.string() })

const AccessLevel = z.enum(['none', 'read', 'write'])

const KindInput = z.string().transform((text, context): Kind => {
  const kind = toKind(text)
  if (kind !== undefined) return kind
  context.addIssue({
    code: 'custom',
    message: `must be the name or guid of an app type: ${Object.keys(guids).join(', ')}`,
  })
  return z.NEVER
})

/** A user or app is named by id (number or digits) or by uid. */
export const Ref = z.union([z.int(), z.string().min(1).max(256)]).transform(String)

export const DirectoryRef = Ref.meta({ description: 'Directory id or name' })

/** Blank counts as absent. */
const textInput = (longest: number) => NameInput(longest).transform(text => (isBlank(text) ? null : text))

const fields = {
  uid: UidInput.nullish(),
  name: textInput(256).nullish(),
  description: textInput(512).nullish(),
  metadata: MetadataInput.nullish(),
  picture: PictureInput,
  tags: TagsInput.nullish(),
  access: AccessLevel.nullish(),
  directory: DirectoryRef.nullish(),
}

const members = z.array(Ref).max(500).nullish()

export const NewApp = z.object({ type: KindInput, ...fields, members })
export type NewApp = z.output<typeof NewApp>

export const AppUpsert = NewApp.omit({ uid: true })
export type AppUpsert = z.output<typeof AppUpsert>

export const AppUpdate = z.object(fields)
export type AppUpdate = z.output<typeof AppUpdate>

export const AppQuery = z.object({ trashed: QueryFlag.optional(), out: Listing.shape.out })

/** Restricts a list to some apps, up to the items of a page. */
export const AppRefs = z
  .array(z.string())
  .max(100)
  .optional()
  .describe('Ids or uids of apps, 100 at most; repeat the parameter')

export const AppListing = Listing.extend({
  directory: z.string().optional(),
  archived: QueryFlag.optional(),
  member: z.string().optional(),
  type: z.array(KindInput).optional(),
  uid: z
    .array(z.string())
    .optional()
    .describe('true: only apps with a uid; false: only those without; else these uids'),
  unread: QueryFlag.optional(),
})
export type AppListing = z.output<typeof AppListing>

export const MarkQuery = z.object({ message_id: z.string().optional() })

/** The type of an app, wherever one is shown. */
export const AppType = {
  type: z.string().describe('The guid of its type'),
  kind: z.enum(kinds).describe('The name of its type, which `type` in a request may be as well'),
}

const Permission = z.enum(['list', 'read', 'create', 'update', 'delete', 'admin'])

/** The app in lists and within content. */
export const AppSummary = z
  .object({
    id: Int,
    rev: Int,
    ...AppType,
    uid: z.string().optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    archive_url: z.string().optional(),
    avatar_url: z.string().optional(),
    metadata: Metadata.optional(),
    tags: z.array(z.string()).optional(),
    access: z.enum(['none', 'read', 'write', 'admin']),
    directory_id: Int.optional(),
    created_at: Timestamp,
    updated_at: Timestamp.optional(),
    is_pinned: z.boolean(),
    is_starred: z.boolean(),
    is_subscribed: z.boolean(),
    is_trashed: z.boolean(),
    is_unread: z.boolean(),
    permissions: z.array(Permission).optional(),
  })
  .meta({ id: 'AppSummary' })

/** The app in events: without members that differ between readers. */
export const EventApp = AppSummary.omit({
  archive_url: true,
  is_pinned: true,
  is_starred: true,
  is_subscribed: true,
  is_unread: true,
  permissions: true,
}).meta({ id: 'EventApp' })

/** An app as it stands at the root of a payload. */
export const DeliveredApp = EventApp.extend({ picture: Blob.optional() }).meta({ id: 'DeliveredApp' })

/** The parent of a comment, with its number of comments right after the event where that is about a comment. */
export const EventParent = z.object({ id: Int, type: z.string(), comments: z.object({ count: Int }).optional() })

/** What an event says of something that it cannot show any more. */
export const EventRef = z.object({ id: Int, app: EventApp, parent: EventParent.optional() }).meta({ id: 'EventRef' })

/** What has gone to the trash by the time that its update is read again. */
export const TrashedRef = EventRef.extend({ is_trashed: z.literal(true) }).meta({ id: 'TrashedRef' })

export const MemberItem = z
  .object({
    id: Int,
    uid: z.string().optional(),
    name: z.string(),
    avatar_url: z.string().optional(),
    access: z.enum(['none', 'read', 'write', 'admin']),
    marked_at: Timestamp.optional(),
    marked_id: Int.optional(),
    presence: z.enum(['active', 'away']).optional(),
    comment: z.string().optional(),
    is_agent: z.boolean().optional(),
  })
  .meta({ id: 'Member' })

export const Members = pagedList(MemberItem)

/** Whole where whole items were asked for. */
const LastMessage = z.looseObject({ ...ContentSummary.shape, created_by: UserSummary })

/** A detailed app. */
export const App = AppSummary.extend({
  picture: Blob.optional(),
  last_message: LastMessage.optional().describe('The newest one that the caller may see'),
  members: Members.optional(),
}).meta({ id: 'App' })

export const AppList = pagedList(z.union([App, AppSummary]))

export const PairHasChat = problem(400, 'pair-has-chat', 'These two have another private chat by now.')
export const WrongKind = problem(400, 'wrong-app-type', 'This does not fit the type of the app.')
