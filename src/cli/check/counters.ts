/** A column with a derived value, and the expression of the correct value. */
export interface Counter {
  table: string
  /** The column that identifies a row. */
  key: string
  column: string
  /** The correct value as an expression on `t`, a row of the table. */
  actual: string
  /** The rows to check. Default: all. */
  where?: string
}

// Each counter is changed by the commit that changes what it counts, so within a snapshot it must be correct. Counters
// of deleted things (the number of items that an app ever had) cannot be derived.

const items = ['messages', 'posts', 'comments']

/** Items made directly in an app, whatever its type. */
const made = (condition: string) => `(
  select count(*) from (
    ${items.map(table => `select trashed_at from ${table} where app_id = t.id and parent_id is null`).join(' union all ')}
    union all select trashed_at from files where app_id = t.id and parent_id is null
  ) made where ${condition})`

/** Deleted apps are being removed row by row. */
const isKept = 't.deleted_at is null'

const chats = `${isKept} and t.type in ('agent_chat', 'chat', 'chat_room', 'private_chat')`

/** The newest visible message of an app that is not by `author`. */
const newest = (column: string, author = '') => `(
  select m.${column} from messages m where m.app_id = t.id and m.parent_id is null and m.trashed_at is null ${author}
  order by m.app_id desc, m.id desc limit 1)`

/** Items of a block: from its first up to the first of the next block of one app or parent. */
const inBlock = (condition: string) => `(
  select count(*) from (
    ${items.map(table => `select app_id, parent_id, id, trashed_at, updated_at from ${table} where app_id = t.app_id`).join(' union all ')}
    union all select app_id, parent_id, id, trashed_at, null from files where app_id = t.app_id
  ) i where coalesce(i.parent_id, 0) = t.parent_id and i.id >= t.first_id
    and i.id < coalesce((select min(x.first_id) from blocks x where x.app_id = t.app_id
      and x.parent_id = t.parent_id and x.first_id > t.first_id), 9223372036854775807) and ${condition})`

const ofItem = (table: string): Counter[] => [
  { table, key: 'id', column: 'attachment_count', actual: '(select count(*) from files x where x.parent_id = t.id)' },
  { table, key: 'id', column: 'option_count', actual: '(select count(*) from options x where x.item_id = t.id)' },
  { table, key: 'id', column: 'reaction_count', actual: '(select count(*) from reactions x where x.item_id = t.id)' },
  { table, key: 'id', column: 'star_count', actual: stars },
]

const stars = '(select count(*) from stars x where x.entity_id = t.id)'
const comments = '(select count(*) from comments x where x.parent_id = t.id and x.trashed_at is null)'

/** Visible comments on visible posts and files. */
const shownComments = `(
  select count(*) from comments c
  where c.app_id = t.app_id and c.parent_id is not null and c.trashed_at is null and (
    exists (select from posts p where p.id = c.parent_id and p.trashed_at is null)
    or exists (select from files f where f.id = c.parent_id and f.trashed_at is null)))`

const inUse = 'exists (select from apps a where a.id = t.app_id and a.deleted_at is null)'

export const counters: Counter[] = [
  ...items.flatMap(ofItem),
  { table: 'posts', key: 'id', column: 'comment_count', actual: comments },
  { table: 'files', key: 'id', column: 'comment_count', actual: comments },
  { table: 'files', key: 'id', column: 'star_count', actual: stars },
  {
    table: 'options',
    key: 'id',
    column: 'vote_count',
    actual: '(select count(*) from votes x where x.option_id = t.id)',
  },
  { table: 'apps', key: 'id', column: 'item_count', actual: made('trashed_at is null'), where: isKept },
  { table: 'apps', key: 'id', column: 'trashed_count', actual: made('trashed_at is not null'), where: isKept },
  // Whether an app is unread depends on these three and the markers of its members.
  { table: 'apps', key: 'id', column: 'last_id', actual: newest('id'), where: chats },
  { table: 'apps', key: 'id', column: 'last_by', actual: newest('created_by'), where: chats },
  {
    table: 'apps',
    key: 'id',
    column: 'prior_id',
    actual: newest('id', `and m.created_by <> ${newest('created_by')}`),
    where: chats,
  },
  // A marker beyond all items of its app would hide future ones.
  ...['marked_id', 'archived_id', 'hidden_id'].map(column => ({
    table: 'members',
    key: 'app_id',
    column,
    actual: `least(t.${column}, (select a.head_rev from apps a where a.id = t.app_id))`,
    where: `t.${column} is not null`,
  })),
  { table: 'comment_totals', key: 'app_id', column: 'count', actual: shownComments, where: inUse },
  {
    table: 'blocks',
    key: 'first_id',
    column: 'trashed_count',
    actual: inBlock('i.trashed_at is not null'),
    where: inUse,
  },
]
