import type { Expressions } from './layout.ts'
import type { Size } from './size.ts'
import { oneOf, type Step } from './step.ts'
import { givenNames, syllables } from './words.ts'

/** Users, who is in which directory, and who follows whom. */
export function peopleSteps({ users, company, directories }: Size, { hash, isTrashed }: Expressions): Step[] {
  return [
    {
      name: 'users',
      tables: ['users'],
      count: users,
      sql: (from, to) => `
        insert into users (id, uid, name, display_name, email, created_at, trashed_at)
        select n, 'user-' || n, name, name, 'user-' || n || '@example.com', now() - interval '730 days',
          case when n > 1000 and ${isTrashed('n')} then now() - interval '1 day' end
        from generate_series(${from}, ${to}) n cross join lateral (
          select ${oneOf(givenNames, hash('n', 21))} || ' ' || initcap(${oneOf(syllables, hash('n', 22))}
            || ${oneOf(syllables, hash('n', 23))}) as name offset 0
        ) named`,
    },
    {
      name: 'directories',
      tables: ['directory_members'],
      count: 1,
      sql: () => `
        insert into directories (id, name, created_at)
        select n, 'Directory ' || n, now() - interval '730 days' from generate_series(1, ${directories}) n;
        insert into directory_members (directory_id, user_id)
        select case when n <= ${company} then 1 else 2 + (n - ${company} - 1) / 100 end, n
        from generate_series(1, ${company + (directories - 1) * 100}) n`,
    },
    {
      name: 'tokens, followers',
      tables: [],
      count: 1,
      sql: () => `
        insert into tokens (hash, user_id, created_at, expires_at)
        select sha256(('token-of-' || n)::bytea), n, now(), now() + interval '10 years'
        from unnest(array[1, 2, ${users}]) n;
        insert into follows (user_id, followed_id, created_at)
        select n, 1, now() from generate_series(2, ${company / 20}) n
        union all select 1, n, now() from generate_series(2, ${company / 100}) n`,
    },
  ]
}
