import { batch } from '../../postgres/batch.ts'
import type { Parent, ParentStore } from './parent.ts'
import type { CountChange } from './store.ts'

/** Changes the counts of files; rows of one flush are summed, because a statement updates a row only once. */
export const changeFileCounts = batch<CountChange>({
  name: 'change_counts_files',
  columns: { id: 'bigint', reactions: 'int', comments: 'int', made: 'int', stars: 'int' },
  sql: rows => `
    update files f set comment_count = comment_count + r.comments, made_count = made_count + r.made,
      star_count = star_count + r.stars
    from (select id, sum(comments) as comments, sum(made) as made, sum(stars) as stars from ${rows} x group by id) r
    where f.id = r.id`,
})

/** Files of files apps, as parents of comments. Attachments have no comments. Served by the primary key. */
export const fileParent: ParentStore = {
  async find(db, id) {
    const [row] = await db<Parent[]>`
      select id, app_id, comment_count, made_count, trashed_at from files where id = ${id} and parent_id is null`
    return row ?? null
  },
  changeCounts: changeFileCounts,
}
