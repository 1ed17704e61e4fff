import type { UserCache } from '../../../auth/user-cache.ts'
import type { NotificationRow } from '../schema.ts'
import { toSnippet } from '../text.ts'
import { countedMessages } from './store.ts'

/** The texts for one message: in a private chat, and elsewhere. The UI kit translates these two. */
export const templates = {
  one: 'New message from **{0}**: "{1}"',
  oneInApp: '**{0}** sent a message in **{1}**: "{2}"',
} as const

type NotificationText = Pick<NotificationRow, 'template' | 'args'>

/**
 * The current text of a notification; a rolled-up one names the authors, the number and the newest of its messages. The
 * users whom it names must be in memory.
 */
export function compose({ template, args, app_name, rolled }: NotificationRow, userCache: UserCache): NotificationText {
  if (rolled === undefined) return { template, args }
  const [name = '', another = ''] = rolled.authors.map(author => userCache.show(author).display_name)
  const snippet = toSnippet(rolled.plain)
  const count = rolled.count > countedMessages ? `${countedMessages}+` : String(rolled.count)
  if (template === templates.one) {
    if (rolled.count === 1) return { template, args: [name, snippet] }
    return { template: '**{0}** wrote {1} messages: "{2}"', args: [name, count, snippet] }
  }
  // The title of an app without a name was determined for the user at the first message.
  const app = app_name ?? args[1] ?? ''
  if (rolled.count === 1) return { template, args: [name, app, snippet] }
  if (rolled.authors.length === 1) {
    return { template: '**{0}** wrote {1} messages in **{2}**: "{3}"', args: [name, count, app, snippet] }
  }
  if (rolled.authors.length === 2) {
    const args = [name, another, count, app, snippet]
    return { template: '**{0}** and **{1}** wrote {2} messages in **{3}**: "{4}"', args }
  }
  const others = String(rolled.authors.length - 1)
  return {
    template: '**{0}** and {1} others wrote {2} messages in **{3}**: "{4}"',
    args: [name, others, count, app, snippet],
  }
}
