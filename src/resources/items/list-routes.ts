import type { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route, type Route, type Served } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { Encoded, writeAnswer } from '../../api/json.ts'
import { pagedList } from '../../api/shape.ts'
import type { Sql } from '../../postgres/sql.ts'
import { openApp } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import type { ContentKind } from '../content/kind.ts'
import { keptPages, keyOf } from '../content/lists/kept-pages.ts'
import { listEverywhere } from '../content/lists/everywhere.ts'
import { fromReplica, isSorted, listInApp, type Narrowing } from '../content/lists/list.ts'
import type { ContentListing } from '../content/schema.ts'
import { toAuthor } from '../content/author.ts'
import { toListItem } from './schema.ts'
import { showPage } from './show.ts'

/** The lists of one kind: the form of its items, and additional filters. */
interface Lists<Query extends ContentListing> {
  Item: z.ZodObject
  Summary: z.ZodObject
  Listing: z.ZodType<Query>
  toNarrowing?: (query: Query, caller: Served<'sql' | 'by'>) => Promise<Narrowing>
}

/** The lists of an app's items, and of those in all apps. */
export function listRoutes<Query extends ContentListing>(
  kind: ContentKind,
  { Item, Summary, Listing, toNarrowing = async () => ({}) }: Lists<Query>,
): Route[] {
  const plural = `${kind.entity}s`
  const Items = pagedList(toListItem(Item, Summary))

  const everywhere = route(`GET /api/${plural}`, {
    summary: `List the ${plural} of all apps that the caller may read; authors come with out=details`,
    auth: 'token or key',
    isHeavy: true,
    query: Listing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle({ query }, context) {
      const narrowing = { ...(await toNarrowing(query, context)), ...(await toAuthor(query, context.sql)) }
      const list = (sql: Sql) => listEverywhere(kind, query, { ...context, sql }, narrowing)
      return reply(200, await showPage(kind, await fromReplica(context, list), context))
    },
  })

  const ofApp = route(`GET /api/apps/{app}/${plural}`, {
    summary: `List the ${plural} of an app; authors come with out=details`,
    auth: 'token or key',
    // The query has passed its schema.
    isHeavy: query => isSorted(query as ContentListing, kind.defaultOrder),
    params: AppPath,
    query: Listing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle({ params, query, representation }, context) {
      const { state } = await openApp(params.app, 'read', context)
      const { app } = state
      const key = keyOf(kind.entity, state, query, context)
      const kept = key === null ? undefined : keptPages.find(key, app)
      if (kept !== undefined) return reply(200, kept)
      const narrowing = { ...(await toNarrowing(query, context)), ...(await toAuthor(query, context.sql)) }
      const page = await listInApp(kind, state, query, context, narrowing)
      const shown = await showPage(kind, page, context, state)
      // Stars differ between callers, and a page that changed meanwhile is not cached.
      if (key === null || state.app !== app || page.rows.some(row => row.star_count > 0)) return reply(200, shown)
      const written = writeAnswer(shown, representation.scalars)
      const encoded = new Encoded(written instanceof Promise ? await written : written)
      if (state.app === app) keptPages.keep(key, app, encoded)
      return reply(200, encoded)
    },
  })

  return [everywhere, ofApp]
}
