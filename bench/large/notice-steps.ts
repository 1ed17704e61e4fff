import type { Expressions, Layout } from './layout.ts'
import type { Size } from './size.ts'
import type { Step } from './step.ts'

/** Of ten notifications: six are of comments, two of posts, and one each of files and of mentions in messages. */
const kinds = [
  {
    entity: 'comment',
    table: 'comments',
    below: 6,
    action: 'comment_created',
    template: '**{0}** replied to a post: "{1}"',
  },
  { entity: 'post', table: 'posts', below: 8, action: 'post_created', template: '**{0}** wrote a post: "{1}"' },
  { entity: 'file', table: 'files', below: 9, action: 'file_created', template: '**{0}** added *{1}*' },
  {
    entity: 'message',
    table: 'messages',
    below: 10,
    action: 'message_created',
    template: '**{0}** mentioned you in a message: "{1}"',
  },
] as const

/** Days over which notifications were made: before they grow old enough to be removed. */
const days = 60

/** Notifications, and deliveries of webhooks. */
export function noticeSteps(size: Size, layout: Layout, made: Expressions): Step[] {
  const { notifications, busiest, deliveries } = size
  const { memberOf, isBusiest, idOf, hash } = made
  const perBusiest = notifications / busiest
  const age = (id: string) => `now() - (1 - ${id} / ${notifications}.0) * interval '${days} days'`
  const columns = `id, user_id, app_id, type, action, actor_ids, template, args, link_type, link_id, parent_type,
    parent_id, is_unread, created_at, changed_id, change, from_id`

  return [
    {
      name: 'what the busiest person is told of',
      tables: [],
      count: 1,
      // In the order in which it was made, again from the beginning where there is less of it.
      sql: () =>
        kinds
          .map(
            ({ entity, table }) => `
        create table bench_told_${entity} as
        select row_number() over (order by id) - 1 as place, id from ${table}
        where ${isBusiest('app_id')} and parent_type is distinct from 'message' and app_id <> ${layout.crowded} limit ${busiest};
        alter table bench_told_${entity} add primary key (place)`,
          )
          .join(';'),
    },
    {
      name: 'notifications',
      tables: ['notifications'],
      count: notifications,
      // Every so many of them the busiest person's; of others, to some member of the app. The newest fifth is unread.
      sql: (from, to) =>
        kinds
          .map(({ entity, table, below, action, template }, at) => {
            const above = at === 0 ? 0 : kinds[at - 1]!.below
            const isMine = `(n % ${perBusiest} = 0)`
            const place = `n / ${perBusiest} * 7919 % (select count(*) from bench_told_${entity})`
            const name = table === 'files' ? 'i.name' : 'i.text'
            return `
        insert into notifications (${columns})
        select n, case when ${isMine} then 1 else ${memberOf('i.app_id', 'n')} end, i.app_id,
          '${entity === 'message' ? 'mention' : 'activity'}', '${action}', array[i.created_by], '${template}',
          array['Person ' || i.created_by, ${name}], '${entity}', i.id, i.parent_type, i.parent_id,
          n > ${notifications * 0.8}, ${age('n')}, n, 'notification_created', null
        from (
          select n, case when ${isMine} then (select id from bench_told_${entity} where place = ${place})
            else ${idOf[entity](`1 + ${hash('n', 31)} % ${size[table]}`)} end as link
          from generate_series(${from}::bigint, ${to}) n
          where ${hash('n', 30)} % 10 >= ${above} and ${hash('n', 30)} % 10 < ${below} offset 0
        ) r join ${table} i on i.id = r.link`
          })
          .join(';'),
    },
    {
      name: 'notifications in which messages roll up',
      tables: [],
      count: 1,
      sql: () => `
        insert into notifications (${columns})
        select ${notifications} + row_number() over (order by last_id), ${memberOf('id', 'id % 20')}, id, 'activity',
          'message_created', array[last_by], 'New message from **{0}**: "{1}"', array['Person ' || last_by, ''],
          'message', null, null, null, true, head_at + interval '1 minute', ${notifications} + row_number() over (order by last_id),
          'notification_created', last_id
        from apps where id <= ${layout.chats} and last_id is not null and last_by <> ${memberOf('id', 'id % 20')}
          and head_at > now() - interval '${days} days';
        select setval('notification_changes', (select max(id) from notifications));
        update followed_position set trimmed_id = (select max(id) from notifications)`,
    },
    {
      name: 'deliveries',
      tables: [],
      count: 1,
      sql: () => `
        insert into webhooks (payload_url, triggers, is_enabled, created_at)
        select 'https://hooks.example/' || n, '{message_created}', false, now() from generate_series(1, ${deliveries / 1000}) n;
        insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, status, created_at, delivered_at, status_code)
        select 1 + n / 1000, n, 'message', 'message_created', ${layout.loud}, 1, 'success', now(), now(), 200
        from generate_series(0, ${deliveries - 1}) n`,
    },
  ]
}
