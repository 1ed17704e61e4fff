import { systemUser } from '../../../auth/principal.ts'
import type { Tx } from '../../../postgres/sql.ts'
import type { LineOf } from '../format.ts'
import { fault, type Numbered } from '../lines.ts'
import type { Refs } from './refs.ts'
import { drawIds, insertRows, type Numbers } from './rows.ts'

type AppLine = Numbered<LineOf<'app'>>

/**
 * Adds apps. One with the same uid, or of the same pair of users, is taken as it is, if nothing was ever written in it;
 * otherwise StartFault: what is imported is older than what is there, and ids grow with time.
 */
export async function addApps(tx: Tx, refs: Refs, numbers: Numbers, lines: AppLine[]): Promise<number> {
  let count = 0
  for (const line of lines) {
    if (refs.find('app', line.id) !== undefined) continue
    const owner = refs.idOf('user', line.owner, line.number)
    const pair = toPair(refs, line)
    const found = await findApp(tx, line, owner, pair)
    if (found !== undefined && (found.type !== line.kind || found.made_count > 0)) {
      const reason = found.type === line.kind ? 'there are items in it already' : `it is of type ${found.type}`
      throw fault(
        line.number,
        `The app ${line.uid ?? ''} is there, and ${reason}. Import into a deployment without it.`,
      )
    }
    const id = found?.id ?? (await drawIds(tx, 'apps', 1))[0]!
    refs.add('app', line.id, id)
    if (found !== undefined) continue
    const rev = numbers.next()
    const created_at = line.created_at ?? new Date()
    const { type: _, kind, pair: __, owner: ___, directory, created_by, updated_by, number, ...row } = line
    const named = {
      directory_id: refs.idOf('directory', directory, number),
      owner_id: owner,
      created_by: refs.idOf('user', created_by, number) ?? systemUser,
      updated_by: refs.idOf('user', updated_by, number),
    }
    const counts = { item_count: 0, trashed_count: 0, made_count: 0 }
    const revs = { rev, head_rev: rev, guard_rev: rev, head_at: created_at }
    const given = { access: line.access ?? 'none', is_joinable: line.is_joinable ?? false, tags: line.tags ?? [] }
    const secret = crypto.randomUUID().replaceAll('-', '')
    await insertRows(tx, 'apps', [
      { ...row, ...named, ...counts, ...revs, ...given, id, type: kind, pair, secret, created_at },
    ])
    count++
  }
  return count
}

async function findApp(tx: Tx, { uid = null, kind }: AppLine, owner: number | null, pair: string | null) {
  const [found] = await tx<{ id: number; type: string; made_count: number }[]>`
    select id, type, made_count from apps
    where deleted_at is null and (
      fold_name(uid) = fold_name(${uid}) and (type <> 'agent_chat' or ${kind} <> 'agent_chat' or owner_id = ${owner})
      or pair = ${pair} and trashed_at is null)
    limit 1`
  return found
}

/** Of a private chat, the two users, unless one is gone; both are the same in a chat with oneself. */
function toPair(refs: Refs, { kind, pair, number }: AppLine): string | null {
  if (kind !== 'private_chat') return null
  if (!pair) throw fault(number, 'pair is required for a private_chat: the ids of its two users.')
  const [first, second] = pair.map(ref => refs.need('user', ref, number).id).toSorted((a, b) => a - b)
  return first! > 0 ? `${first}:${second}` : null
}

/** Adds members and what they have set. Of one who is there, only the read marker moves on. */
export async function addMembers(
  tx: Tx,
  refs: Refs,
  numbers: Numbers,
  lines: Numbered<LineOf<'member'>>[],
): Promise<void> {
  const rows = lines.map(line => {
    const { number } = line
    return {
      app_id: refs.need('app', line.app, number).id,
      user_id: refs.need('user', line.user, number).id,
      access: line.access,
      joined_rev: line.access ? numbers.next() : null,
      marked_id: refs.idOf('item', line.marked, number),
      marked_at: line.marked_at,
      pinned_at: line.pinned_at,
      starred_at: line.starred_at,
      archived_id: refs.idOf('item', line.archived, number),
      is_removed: line.is_removed ?? false,
      hidden_id: refs.idOf('item', line.hidden, number),
      is_subscribed: line.is_subscribed,
    }
  })
  const seen = new Map(rows.map(row => [`${row.app_id}:${row.user_id}`, row]))
  await insertRows(
    tx,
    'members',
    [...seen.values()],
    `on conflict (app_id, user_id) do update set marked_id = excluded.marked_id, marked_at = excluded.marked_at
    where excluded.marked_id > coalesce(members.marked_id, 0)`,
  )
}
