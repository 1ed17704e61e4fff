import { z } from 'zod'
import { invalid, problem } from '../../lib/errors.ts'
import { isBlank } from '../../lib/name.ts'
import { ReferenceInput } from '../../api/reference.ts'
import { IdInput, IdQuery, Int, Metadata, MetadataInput, Timestamp, pagedList } from '../../api/shape.ts'
import { Listing, QueryFlag } from '../../api/page.ts'
import { AppType } from '../apps/schema.ts'
import { ActorRef } from '../users/schema.ts'
import type { RolledMessages } from './rolled/store.ts'

export const types = ['activity', 'mention', 'reaction'] as const
export type NotificationType = (typeof types)[number]

const linkTypes = ['app', 'file', 'message', 'comment', 'post'] as const
export type LinkType = (typeof linkTypes)[number]

/** The changes that are sent to realtime sessions and webhooks. */
export type Change = 'notification_created' | 'notification_updated' | 'notifications_marked'

export const NotificationPath = z.object({ id: z.string() })

/** As the UI kit asks: an empty type means all. */
const TypeFilter = z
  .enum(['', ...types])
  .optional()
  .describe('Only of this type; empty: all')

export const AppNotificationListing = Listing.extend({
  q: Listing.shape.q.describe('Matches beginnings of words of the text'),
  action: z.string().max(64).optional().describe('Only of this action, such as message_created'),
  type: TypeFilter,
  unread: QueryFlag.optional().describe('true: only unread notifications; false: only read ones'),
})

export const NotificationListing = AppNotificationListing.extend({
  q: AppNotificationListing.shape.q.describe(
    'Matches beginnings of words of the text; with an API key and no user, of the newest 20,000 notifications',
  ),
  directory: z.string().optional().describe('Id or name: only from apps of this directory'),
  user: z.string().optional().describe('Id or uid: only for this user; for API keys'),
})
export type NotificationListing = z.output<typeof NotificationListing>

export const MarkQuery = z.object({
  id: IdQuery.optional().describe('This and all earlier ones'),
})

const Ref = z.object({ id: Int, type: z.string() })

/** What a person should know. */
export const Notification = z
  .object({
    id: Int,
    type: z.enum(types),
    action: z.string(),
    actor: ActorRef,
    template: z.string().describe('Markdown with placeholders {0}, {1}, …'),
    args: z.array(z.string()).optional(),
    text: z.string(),
    html: z.string(),
    plain: z.string(),
    link: Ref.extend({
      parent: Ref.optional(),
      app: z.object({ id: Int, uid: z.string().optional(), ...AppType }).optional(),
    }).optional(),
    user: ActorRef,
    metadata: Metadata.optional(),
    created_at: Timestamp,
    updated_at: Timestamp.optional(),
    is_unread: z.boolean(),
  })
  .meta({ id: 'Notification' })
export const Notifications = pagedList(Notification)

export const NewNotification = z.object({
  user: ReferenceInput.describe('Who is to know: id or uid'),
  text: z
    .string()
    .max(1024)
    .refine(text => !isBlank(text), 'must not be empty')
    .describe('Markdown'),
  link: z
    .object({ type: z.enum(linkTypes), id: IdInput })
    .nullish()
    .describe('What it leads to'),
  metadata: MetadataInput.nullish(),
})

export const NotifiesPeople = problem(422, 'notifies-people', 'Only people can be notified.', {
  errors: { user: ['must be a person'] },
})

export const UnknownUser = () => invalid({ user: ['there is no such user'] })
export const UnknownLink = () => invalid({ link: ['leads nowhere, or nowhere that the user can see'] })

/** A notification before it is stored. */
export interface Draft {
  user_id: number
  app_id: number | null
  type: NotificationType
  action: string
  actor_ids: number[]
  template: string
  args: string[]
  link_type: LinkType | null
  link_id: number | null
  parent_type: string | null
  parent_id: number | null
  metadata: Record<string, unknown> | null
  created_at: Date
  /** The first message that a rolled-up notification stands for; null for other notifications. */
  from_id: number | null
}

/** A row of `notifications`, with columns of the app that it leads to. */
export interface NotificationRow extends Draft {
  id: number
  is_unread: boolean
  updated_at: Date | null
  changed_id: number
  change: Change
  app_uid: string | null
  app_name: string | null
  app_type: string | null
  /** The messages that a rolled-up notification stands for now, if any are left. */
  rolled?: RolledMessages | undefined
}
