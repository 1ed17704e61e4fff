import type { JSONWebKeySet } from 'jose'
import { answerSeconds, type Turn } from '../../auth/host-tokens/remote-keys.ts'
import type { Db, Json, Tx } from '../../postgres/sql.ts'

/** The newest key set of the host at a URL; null where no node has got one. */
export async function findHostKeys(db: Db, url: string): Promise<JSONWebKeySet | null> {
  const [row] = await db<{ keys: JSONWebKeySet | null }[]>`select keys from host_keys where url = ${url}`
  return row?.keys ?? null
}

/**
 * Takes the turn to ask the host where the last one was `periodSeconds` ago or, without any answer yet, a few seconds. By
 * PostgreSQL's clock, which all nodes have in common. A row that this statement does not see yet is one that another node has
 * made since it began, to ask the host: that is pending too.
 */
export async function takeHostKeysTurn(db: Db, url: string, periodSeconds: number): Promise<Turn> {
  const [row] = await db<(Pick<Turn, 'keys'> & { is_ours: boolean; is_pending: boolean })[]>`
    with turn as (
      insert into host_keys as k (url, asked_at) values (${url}, now())
      on conflict (url) do update set asked_at = now()
      where k.asked_at <= now() - make_interval(secs => case when k.keys is null then ${answerSeconds}::int
        else ${periodSeconds}::int end)
      returning true
    )
    select exists (select from turn) as is_ours, k.keys,
      coalesce(k.asked_at > now() - make_interval(secs => ${answerSeconds}::int)
        and (k.answered_at is null or k.answered_at < k.asked_at), true) as is_pending
    from (select) as one left join host_keys k on k.url = ${url}`
  const { is_ours, is_pending, keys } = row!
  return { state: is_ours ? 'ours' : is_pending ? 'pending' : 'settled', keys }
}

/** Ends a turn without an answer: no other node waits for one. */
export async function endHostKeysTurn(db: Db, url: string): Promise<void> {
  await db`update host_keys set answered_at = now() where url = ${url}`
}

/** Keeps the answer of the host. True where it is another one than before. */
export async function updateHostKeys(tx: Tx, url: string, keys: JSONWebKeySet): Promise<boolean> {
  // Parsed from JSON, so it is valid JSON.
  const [row] = await tx<{ is_changed: boolean }[]>`
    update host_keys k set keys = ${tx.json(keys as unknown as Json)}, answered_at = now()
    from host_keys before where k.url = ${url} and before.url = k.url
    returning before.keys is distinct from k.keys as is_changed`
  return row?.is_changed === true
}
