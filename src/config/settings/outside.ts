import { integer, ranges, setting } from '../setting.ts'

/** Notifications, and what this server sends to others and fetches from them. */
export const outsideSettings = {
  notifySeconds: setting(
    'NOTIFY_SECONDS',
    '5',
    integer(0, 3600),
    'Time that a message has to be unread before people are notified of it',
  ),
  notificationsPerUser: setting(
    'NOTIFICATIONS_PER_USER',
    '2000',
    integer(1, 10_000),
    'Notifications that a user keeps: the newest, and read ones go first',
  ),
  webhookRate: setting('WEBHOOK_RATE_PER_SECOND', '50', integer(1, 10_000), 'Deliveries to one webhook receiver'),
  webhookParallel: setting(
    'WEBHOOK_PARALLEL',
    '8',
    integer(1, 100),
    'Deliveries to one webhook at a time, of different apps; deliveries of one app follow each other',
  ),
  webhookSeconds: setting('WEBHOOK_SECONDS', '10', integer(1, 60), 'Time that a webhook receiver has to answer'),
  webhookDeny: setting('WEBHOOK_DENY', '', ranges, 'Addresses that webhooks may not reach, as in 10.0.0.0/8,fd00::/8'),
  webhookAllow: setting(
    'WEBHOOK_ALLOW',
    '',
    ranges,
    'Addresses that webhooks may reach beyond public, private and loopback ones',
  ),
  fetchAllow: setting(
    'FETCH_ALLOW',
    '',
    ranges,
    'Addresses beyond public ones that pictures and link previews may come from; names in /etc/hosts do not count',
  ),
} as const
