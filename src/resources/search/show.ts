import type { AppState } from '../../engine/state.ts'
import { findStates } from '../apps/find.ts'
import { namesakes, titleOf } from '../apps/naming.ts'
import { showAppSummary } from '../apps/represent.ts'
import { kinds as contentKinds } from '../content/kinds.ts'
import { toParentRef } from '../content/parent.ts'
import type { ContentRow } from '../content/schema.ts'
import { plainOf } from '../content/text/render.ts'
import type { Served } from '../route.ts'
import { summaryOf } from '../users/represent.ts'
import type { Question } from './question.ts'
import type { Kind, SearchHit } from './schema.ts'
import type { Find } from './search.ts'
import { toSnippets } from './snippet.ts'
import { findFiles } from './store.ts'

type Caller = Served<'sql' | 'by' | 'apps' | 'userCache' | 'origin'>

/** What a hit shows, before its app and author are in memory. */
interface Shown extends Pick<SearchHit, 'name' | 'place' | 'parent'> {
  type: SearchHit['type']
  id: number
  /** Null for people. */
  app: number | null
  /** The author; of a user the user itself; null for apps. */
  author: number | null
  /** In which it was found; null for what is found by its name. */
  text: string | null
  created_at?: Date
  updated_at?: Date | null
}

/** Finds as the API shows them, without those that have gone meanwhile. */
export async function showHits(finds: readonly Find[], question: Question, caller: Caller): Promise<object[]> {
  const { sql, by, userCache, origin } = caller
  const loaded = await load(finds, question, caller)
  const rows = finds.flatMap(({ kind, id }) => loaded.get(`${kind} ${id}`) ?? [])
  const states = await findStates(
    rows.flatMap(({ app }) => app ?? []),
    caller,
  )
  const there = rows.filter(({ app }) => app === null || states.has(app))
  await userCache.load([...there.flatMap(({ author }) => author ?? []), ...[...states.values()].flatMap(namesakes)])
  const named = there.map(row => ({ row, name: row.name ?? nameOf(row, states, caller) }))
  const texts = named.map(({ row, name }) => row.text ?? name ?? '')
  const snippets = await toSnippets(sql, question, texts)
  return named.map(({ row: { type, id, app, author, parent, place, created_at, updated_at }, name }, at) => {
    const state = app === null ? undefined : states.get(app)
    return {
      type,
      id,
      name,
      snippet: snippets[at],
      app: state && showAppSummary(state, { by, userCache, origin }),
      parent,
      place,
      created_by: author === null ? null : summaryOf(userCache.show(author), origin),
      created_at: created_at ?? state?.app.created_at,
      updated_at,
    }
  })
}

function nameOf(
  { type, app, author }: Shown,
  states: ReadonlyMap<number, AppState>,
  { by, userCache }: Caller,
): string | undefined {
  if (type === 'user') return userCache.show(author!).display_name
  if (type === 'app') return titleOf(states.get(app!)!, by.user, userCache) ?? undefined
  return undefined
}

async function load(finds: readonly Find[], question: Question, { sql }: Caller): Promise<Map<string, Shown>> {
  const ids = Map.groupBy(finds, ({ kind }) => kind)
  const shown = new Map<string, Shown>()
  const idsOf = (kind: Kind) => ids.get(kind)?.map(({ id }) => id) ?? []
  const keep = (kind: Kind, row: Shown) => shown.set(`${kind} ${row.id}`, row)
  for (const type of ['message', 'post', 'comment'] as const) {
    const wanted = idsOf(`${type}s`)
    if (wanted.length === 0) continue
    for (const row of (await contentKinds[type].store.findMany(sql, wanted)).values())
      if (row.trashed_at === null) keep(`${type}s`, showItem(type, row))
  }
  const wanted = idsOf('files')
  for (const file of wanted.length === 0 ? [] : await findFiles(sql, question, wanted)) {
    const { id, app_id: app, created_by: author, name, text, place, created_at, updated_at } = file
    const parent = toParentRef(file) ?? undefined
    keep('files', {
      type: 'file',
      id,
      app,
      author,
      name,
      text,
      parent,
      place: place ?? undefined,
      created_at,
      updated_at,
    })
  }
  for (const id of idsOf('people')) keep('people', { type: 'user', id, app: null, author: id, text: null })
  for (const id of idsOf('apps')) keep('apps', { type: 'app', id, app: id, author: null, text: null })
  return shown
}

function showItem(type: 'message' | 'post' | 'comment', row: ContentRow): Shown {
  const { id, app_id: app, created_by: author, created_at, updated_at } = row
  return { type, id, app, author, text: plainOf(row), parent: toParentRef(row) ?? undefined, created_at, updated_at }
}
