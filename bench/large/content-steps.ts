import type { Expressions, Layout } from './layout.ts'
import type { Size } from './size.ts'
import { oneOf, type Step } from './step.ts'
import { commonWord, words } from './words.ts'

/** Different sentences that texts begin with; each text ends in a word that few others have. */
const sentences = 20_000
const rareWords = 200_000

const blobs = 1_000

/** Messages, posts, comments and files, with the words that each is found by. What apps keep of them comes later. */
export function contentSteps(size: Size, layout: Layout, made: Expressions): Step[] {
  const { messages, posts, comments, files } = size
  const { hash, idOf } = made
  const onPosts = comments * layout.onPosts
  const onFiles = comments * layout.onFiles
  const columns = 'id, app_id, created_at, created_by, updated_at, trashed_at, tags'
  const item = (id: string) => `${id}, app, ${made.timeOf(id)}, ${made.memberOf('app', hash(id, 3))},
    case when ${made.isEdited(id)} then ${made.timeOf(id)} + interval '1 hour' end,
    case when ${made.isTrashed(id)} then ${made.timeOf(id)} + interval '2 hours' end,
    case when n % 100 = 3 then '{todo}'::text[] else '{}' end`
  const text = `t.text || ' x' || ${hash('n', 5)} % ${rareWords}`
  const withText = `join bench_texts t on t.number = ${hash('n', 4)} % ${sentences}`
  // A tenth of the files, of messages that are not in the loud room.
  const attached = files / 10
  const inApps = files - attached
  const perAttachment = messages / attached
  const attachedTo = `case when n > ${inApps} then (n - ${inApps} - 1) * ${perAttachment} + 1 else 0 end`

  return [
    {
      name: 'sentences',
      tables: [],
      count: 1,
      sql: () => `
        create table bench_texts (number int primary key, text text not null);
        insert into bench_texts
        select n, string_agg(${oneOf(words, hash('n * 8 + k', 2))}, ' ')
          || case when n % 10 = 0 then ' ${commonWord}' else '' end
        from generate_series(0, ${sentences - 1}) n, generate_series(1, 8) k group by n;
        analyze bench_texts;
        insert into blobs (id, name, media_type, size, secret, provider, link, created_at, created_by, checked_at)
        select n, 'blob ' || n, 'application/pdf', 1000, md5(n::text), 'elsewhere', 'https://files.example/' || n, now(), 1, now()
        from generate_series(1, ${blobs}) n`,
    },
    {
      name: 'messages',
      tables: ['messages'],
      count: messages,
      sql: (from, to) => `
        insert into messages (${columns}, text, attachment_count, reaction_count, star_count)
        select ${item(idOf.message('n'))}, ${text}, case when n % ${perAttachment} = 1 then 1 else 0 end,
          case when n % 20 = 3 then 1 else 0 end, case when n % ${messages / 2000} = 0 then 1 else 0 end
        from (select n, ${made.chatOf('n')} as app from generate_series(${from}, ${to}) n offset 0) r ${withText}`,
    },
    {
      name: 'comments',
      tables: ['comments'],
      count: comments,
      sql: (from, to) => `
        insert into comments (${columns}, parent_type, parent_id, text)
        select ${item(idOf.comment('n'))}, case when post > 0 then 'post' when file > 0 then 'file' end,
          case when post > 0 then ${idOf.post('post')} when file > 0 then ${idOf.file('file')} end, ${text}
        from (
          select n, post, file, case when post > 0 then ${made.postsAppOf('post')}
            when file > 0 then ${made.filesAppOf('file')} else ${made.commentsAppOf('n')} end as app
          from (
            select n,
              case when n > ${onPosts} then 0 when n % 50 = 0 then ${layout.discussed} else 1 + n % ${posts} end as post,
              case when n > ${onPosts} and n <= ${onFiles} then 1 + n % ${inApps} else 0 end as file
            from generate_series(${from}, ${to}) n
          ) about offset 0
        ) r ${withText}`,
    },
    {
      name: 'comments by what they are about',
      tables: [],
      count: 1,
      sql: () => `
        create table bench_parents as
        select parent_id, count(*)::int as made, (count(*) filter (where trashed_at is null))::int as visible
        from comments where parent_id is not null group by parent_id;
        analyze bench_parents`,
    },
    {
      name: 'posts',
      tables: ['posts'],
      count: posts,
      sql: (from, to) => `
        insert into posts (${columns}, text, comment_count, made_count)
        select ${item(idOf.post('n'))}, ${text}, coalesce(visible, 0), coalesce(made, 0)
        from (select n, ${made.postsAppOf('n')} as app from generate_series(${from}, ${to}) n offset 0) r ${withText}
        left join bench_parents p on p.parent_id = ${idOf.post('n')}`,
    },
    {
      name: 'files',
      tables: ['files', 'file_versions'],
      count: files,
      sql: (from, to) => `
        insert into files (${columns}, parent_type, parent_id, name, size, rev, comment_count, made_count)
        select ${item(idOf.file('n'))}, case when message > 0 then 'message' end,
          case when message > 0 then ${idOf.message('message')} end,
          'file ' || n || ' ' || ${oneOf(words, hash('n', 6))} || '.pdf', 1000 + ${hash('n', 8)} % 1000000,
          ${idOf.file('n')}, coalesce(visible, 0), coalesce(made, 0)
        from (
          select n, message,
            case when message > 0 then ${made.chatOf('message')} else ${made.filesAppOf('n')} end as app
          from (select n, ${attachedTo} as message from generate_series(${from}, ${to}) n) about offset 0
        ) r left join bench_parents p on p.parent_id = ${idOf.file('n')};
        insert into file_versions (file_id, rev, app_id, blob_id, created_at, created_by)
        select id, rev, app_id, 1 + id / 4 % ${blobs}, created_at, created_by from files
        where id between ${idOf.file(String(from))} and ${idOf.file(String(to))}`,
    },
    ...(['message', 'comment', 'post'] as const).map((entity): Step => ({
      name: `words of ${entity}s`,
      tables: [`${entity}s_terms`],
      count: size[`${entity}s`],
      sql: (from, to) => `
        insert into ${entity}s_terms (id, terms)
        select id, search_terms(app_id, text, tags) from ${entity}s
        where id between ${idOf[entity](String(from))} and ${idOf[entity](String(to))}`,
    })),
    {
      name: 'reactions, subscriptions and stars',
      tables: ['reactions', 'subscriptions', 'stars'],
      count: 1,
      sql: () => `
        insert into reactions (item_id, user_id, id, app_id, content, created_at)
        select id, ${made.memberOf('app_id', `${hash('id', 3)} + 1`)}, id, app_id, '👍', created_at + interval '1 minute'
        from messages where reaction_count > 0;
        insert into subscriptions (entity_id, user_id, entity_type, is_subscribed, since)
        select id, created_by, 'post', true, id from posts
        union all select id, created_by, 'file', true, id from files where parent_id is null;
        insert into stars (user_id, entity_id, entity_type, app_id, created_at)
        select 1, id, 'message', app_id, created_at from messages where star_count > 0`,
    },
  ]
}
