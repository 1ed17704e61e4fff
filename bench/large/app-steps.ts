import type { Expressions, Layout } from './layout.ts'
import type { Size } from './size.ts'
import type { Step } from './step.ts'

/** What a place's blocks are made for, as in src/resources/content/lists. */
const blockSize = 1_000

/** Apps with what they keep of their content, who is in them, and where their blocks begin. */
export function appSteps({ apps, crowd }: Size, layout: Layout, made: Expressions): Step[] {
  const { privateChats, chats, crowded, loud, lastPostsApp, lastFilesApp, lastId } = layout
  const { hash, memberOf, isBusiest, isTrashed } = made
  const kinds = ['messages', 'posts', 'comments', 'files'] as const
  // Comments on posts and files are not made directly in an app; attachments are not content of it.
  const direct = (table: string) =>
    `select app_id, id, created_by, trashed_at from ${table} where ${table === 'messages' || table === 'posts' ? 'true' : 'parent_id is null'}`
  const members = (app: string) => `case when ${app} <= ${privateChats} then 2 when ${app} = ${loud} then 500
    when ${app} = ${crowded} then ${crowd} else 10 end`

  return [
    {
      name: 'what apps hold',
      tables: [],
      count: 1,
      sql: () => `
        create table bench_apps as
        select app_id, count(*) as made, count(*) filter (where trashed_at is null) as visible, max(id) as newest_id,
          max(id) filter (where trashed_at is null) as last_id
        from (${kinds.map(direct).join(' union all ')}) items group by app_id;
        alter table bench_apps add primary key (app_id);
        create table bench_others as
        select m.app_id, max(m.id) as prior_id from messages m join bench_apps b on b.app_id = m.app_id
        where m.trashed_at is null and m.created_by <> ${memberOf('b.app_id', hash('b.last_id', 3))}
        group by m.app_id;
        analyze bench_apps; analyze bench_others`,
    },
    {
      name: 'apps',
      tables: [],
      count: 1,
      sql: () => `
        insert into apps (id, type, name, access, directory_id, pair, rev, head_rev, head_at, item_count, trashed_count,
          made_count, last_id, last_by, prior_id, created_at, created_by, trashed_at)
        select n, type, case when type <> 'private_chat' then initcap(t.text) || ' ' || n end,
          case when type <> 'private_chat' and n % 100 = 51 then 'read' else 'none' end,
          case when type <> 'private_chat' and n % 100 = 51 then 1 end,
          case when type = 'private_chat' then least(one, other) || ':' || greatest(one, other) end,
          greatest(n, newest_id), greatest(n, newest_id),
          ${made.timeOf('greatest(1000000, newest_id)')} + interval '2 hours',
          coalesce(visible, 0), coalesce(made - visible, 0), coalesce(made, 0),
          case when n <= ${chats} then last_id end,
          case when n <= ${chats} then ${memberOf('n', hash('last_id', 3))} end, prior_id,
          now() - interval '730 days' + n * interval '5 minutes', ${memberOf('n', '0')},
          case when n % 20 > 5 and ${isTrashed('n')} then now() - interval '1 day' end
        from (
          select n, case when n <= ${privateChats} then 'private_chat' when n <= ${chats} then 'chat_room'
            when n <= ${lastPostsApp} then 'posts' when n <= ${lastFilesApp} then 'files' else 'comments' end as type,
            ${memberOf('n', '0')} as one, ${memberOf('n', '1')} as other
          from generate_series(1, ${apps}::bigint) n
        ) a join bench_texts t on t.number = n % 1000
        left join bench_apps b on b.app_id = n left join bench_others o on o.app_id = n;
        update apps set rev = 1 where rev is null;
        insert into notification_cursors (app_id, rev, rolled_id)
        select id, head_rev, coalesce(last_id, 0) from apps`,
    },
    {
      name: 'members',
      tables: ['members'],
      count: apps,
      // A third of them has read what there is.
      sql: (from, to) => `
        insert into members (app_id, user_id, access, joined_rev, marked_id, marked_at)
        select a.id, user_id, case min(k) when 0 then 'admin' else 'write' end, min(k) + 1,
          case when user_id % 3 = 0 then a.last_id end, case when user_id % 3 = 0 then a.head_at end
        from apps a cross join lateral (
          select ${memberOf('a.id', 'k')} as user_id, k from generate_series(0::bigint, ${members('a.id')} - 1) k
          union all select 1, ${crowd} where ${isBusiest('a.id')}
        ) m
        where a.id between ${from} and ${to}
        group by a.id, user_id`,
    },
    ...kinds.map((table): Step => ({
      name: `blocks of ${table}`,
      tables: [],
      count: 1,
      sql: () => `
        insert into blocks (app_id, parent_id, first_id, trashed_count)
        select app_id, parent_id, min(id), count(*) filter (where trashed_at is not null)
        from (
          select app_id, coalesce(parent_id, 0) as parent_id, id, trashed_at,
            (row_number() over (partition by app_id, coalesce(parent_id, 0) order by id) - 1) / ${blockSize} as block
          from ${table} where parent_type is distinct from 'message'
        ) i
        group by app_id, parent_id, block`,
    })),
    {
      name: 'totals of comments',
      tables: [],
      count: 1,
      sql: () => `
        insert into comment_totals (app_id, count)
        select c.app_id, count(*) from comments c
        left join posts p on p.id = c.parent_id left join files f on f.id = c.parent_id
        where c.parent_id is not null and c.trashed_at is null and p.trashed_at is null and f.trashed_at is null
        group by c.app_id;
        select setval('numbers', ${lastId}), setval('apps_id_seq', ${apps}),
          setval('directories_id_seq', (select max(id) from directories)), setval('users_id_seq', (select max(id) from users)),
          setval('blobs_id_seq', (select max(id) from blobs))`,
    },
  ]
}
