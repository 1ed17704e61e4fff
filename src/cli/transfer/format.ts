import { z } from 'zod'
import {
  LineInput,
  MetadataInput,
  MomentInput,
  NameInput,
  TagsInput,
  UidInput,
  VisibleInput,
  WebAddressInput,
} from '../../api/shape.ts'
import { fieldInputs } from '../../resources/apps/content-fields.ts'
import { kinds } from '../../resources/apps/kinds.ts'
import { Provider } from '../../resources/agents/schema.ts'
import { ExternalBlob } from '../../resources/blobs/schema.ts'
import { toEmoji } from '../../resources/reactions/emoji.ts'
import { toFrame } from '../../resources/embeds/unfurl/frame.ts'

/** The version of the format that files say in their first line; docs/moving-data.md describes it. */
export const formatVersion = 1

/** The most bytes of a blob in one line. */
export const chunkBytes = 192 * 1024

/** An id within the file. */
const Ref = z.union([z.string().min(1).max(256), z.int()]).transform(String)
const Refs = z.array(Ref).max(500).nullish()
const Line = (longest: number) => LineInput(longest).nullish()
const Moment = MomentInput.nullish()
const properties = { metadata: MetadataInput.nullish(), tags: TagsInput.nullish() }
const changes = { updated_at: Moment, updated_by: Ref.nullish(), trashed_at: Moment }
const made = { created_at: MomentInput, created_by: Ref }

const Header = z.object({
  type: z.literal('header'),
  format: z.literal('parley'),
  version: z.literal(formatVersion),
  source: z.string().min(1).max(256),
})

const Directory = z.object({ type: z.literal('directory'), id: Ref, name: UidInput, created_at: Moment })

const User = z.object({
  type: z.literal('user'),
  id: Ref,
  uid: UidInput.refine(uid => !/^u\d+$/i.test(uid), 'is how mentions name an id').nullish(),
  name: Line(256),
  given_name: Line(64),
  middle_name: Line(64),
  family_name: Line(64),
  nickname: Line(32),
  email: Line(256),
  phone_number: Line(32),
  username: Line(256),
  comment: z.string().max(1024).nullish(),
  ...properties,
  directories: Refs,
  agent: z
    .object({
      provider: Provider,
      model: z.string().min(1).max(256),
      instructions: z.string().max(65_536).nullish(),
      web_search: z.boolean().nullish(),
      max_tokens: z.int().positive().nullish(),
    })
    .nullish(),
  created_at: Moment,
  updated_at: Moment,
  trashed_at: Moment,
})

const Follow = z.object({ type: z.literal('follow'), user: Ref, followed: Ref, created_at: MomentInput })

const App = z.object({
  type: z.literal('app'),
  id: Ref,
  kind: z.enum(kinds),
  uid: UidInput.nullish(),
  name: Line(256),
  description: z.string().max(4096).nullish(),
  ...properties,
  access: z.enum(['none', 'read', 'write', 'admin']).nullish(),
  directory: Ref.nullish(),
  owner: Ref.nullish(),
  pair: z.array(Ref).length(2).nullish(),
  is_joinable: z.boolean().nullish(),
  created_at: Moment,
  created_by: Ref.nullish(),
  ...changes,
})

const Embed = z.object({
  type: z.enum(['link', 'rich', 'video', 'photo']),
  title: Line(512),
  description: z.string().max(4096).nullish(),
  url: WebAddressInput.nullish(),
  image: Ref.nullish(),
  actions: z.array(VisibleInput(64)).max(5).nullish(),
  metadata: MetadataInput.nullish(),
  author_name: Line(512),
  author_url: WebAddressInput.nullish(),
  provider_name: Line(512),
  provider_url: WebAddressInput.nullish(),
  html: z
    .string()
    .nullish()
    .transform(html => (html ? (toFrame(html)?.html ?? null) : null)),
  width: z.int().positive().max(20_000).nullish(),
  height: z.int().positive().max(20_000).nullish(),
  source: z.string().max(2048).nullish(),
  ...made,
})

const Meeting = z.object({
  provider: Line(64),
  provider_id: Line(256),
  join_url: WebAddressInput,
  code: Line(256),
  metadata: MetadataInput.nullish(),
  ...made,
})

const content = {
  id: Ref,
  app: Ref,
  text: z.string().max(65_536).nullish(),
  mentions: Refs,
  ...fieldInputs,
  options: z.array(VisibleInput(256)).max(50).nullish(),
  embed: Embed.nullish(),
  meeting: Meeting.nullish(),
  ...made,
  ...changes,
}

const Message = z.object({ type: z.literal('message'), ...content })
const Post = z.object({ type: z.literal('post'), ...content })
const Comment = z.object({ type: z.literal('comment'), parent: Ref.nullish(), ...content })

const Blob = z.object({
  type: z.literal('blob'),
  id: Ref,
  name: NameInput(256).min(1),
  media_type: z.string().min(1).max(256),
  size: z.int().nonnegative(),
  ...made,
  external: ExternalBlob.pick({
    ...{ provider: true, link: true, width: true, height: true, download: true, embed: true, raw: true },
  }).nullish(),
})
const Bytes = z.object({ type: z.literal('bytes'), data: z.base64() })

const File = z.object({
  type: z.literal('file'),
  id: Ref,
  app: Ref,
  item: Ref.nullish(),
  name: NameInput(256).min(1),
  versions: z
    .array(z.object({ blob: Ref, ...made }))
    .min(1)
    .max(10_000),
  ...properties,
  ...made,
  ...changes,
})

const Picture = z.object({ type: z.literal('picture'), user: Ref.nullish(), app: Ref.nullish(), blob: Ref })

const Member = z.object({
  type: z.literal('member'),
  app: Ref,
  user: Ref,
  access: z.enum(['none', 'read', 'write', 'admin']).nullish(),
  marked: Ref.nullish(),
  marked_at: Moment,
  archived: Ref.nullish(),
  hidden: Ref.nullish(),
  is_removed: z.boolean().nullish(),
  pinned_at: Moment,
  starred_at: Moment,
  is_subscribed: z.boolean().nullish(),
})

const Reaction = z.object({
  type: z.literal('reaction'),
  item: Ref,
  user: Ref,
  content: z
    .string()
    .max(64)
    .transform((text, context) => {
      const emoji = toEmoji(text)
      if (emoji === null) context.addIssue({ code: 'custom', message: 'must be a single emoji' })
      return emoji ?? z.NEVER
    }),
  created_at: MomentInput,
})
const Vote = z.object({ type: z.literal('vote'), item: Ref, user: Ref, option: z.int().nonnegative() })
const Star = z.object({ type: z.literal('star'), item: Ref, user: Ref, created_at: MomentInput })
const Subscription = z.object({ type: z.literal('subscription'), item: Ref, user: Ref, is_subscribed: z.boolean() })

/** A line of a file; docs/moving-data.md describes each. */
export const FileLine = z.discriminatedUnion('type', [
  Header,
  Directory,
  User,
  Follow,
  App,
  Message,
  Post,
  Comment,
  Blob,
  Bytes,
  File,
  Picture,
  Member,
  Reaction,
  Vote,
  Star,
  Subscription,
])
export type FileLine = z.output<typeof FileLine>
export type LineOf<Type extends FileLine['type']> = Extract<FileLine, { type: Type }>
/** A line before it is validated. */
export type DraftLine = z.input<typeof FileLine>
