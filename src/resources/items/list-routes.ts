import type { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route, type Route, type Served } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { Encoded, writeJson } from '../../api/json.ts'
import { pagedList } from '../../api/shape.ts'
import type { Sql } from '../../postgres/sql.ts'
import { openApp } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import type { ContentKind } from '../content/kind.ts'
import { keptPages, keyOf } from '../content/lists/across/kept-pages.ts'
import { listEverywhere } from '../content/lists/across/everywhere.ts'
import { fromReplica, listInApp, type Narrowing } from '../content/lists/list.ts'
import type { ContentListing } from '../content/schema.ts'
import { showPage } from './show.ts'

/** The lists of one kind: the form of its items, and additional filters. */
interface Lists<Query extends ContentListing> {
  Item: z.ZodType
  Summary: z.ZodType
  Listing: z.ZodType<Query>
  toNarrowing?: (query: Query, caller: Served<'sql' | 'by'>) => Promise<Narrowing>
}

/** The lists of an app's items, and of those in all apps. */
export function listRoutes<Query extends ContentListing>(
  kind: ContentKind,
  { Item, Summary, Listing, toNarrowing = async () => ({}) }: Lists<Query>,
): Route[] {
  const plural = `${kind.entity}s`
  const Items = pagedList(Item.or(Summary))

  const everywhere = route(`GET /api/${plural}`, {
    summary: `List the ${plural} of all apps that the caller may read`,
    auth: 'token or key',
    query: Listing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle(
      { query, by, representation, origin },
      { sql, replica, apps, userCache, keptSearches, knownPositions },
    ) {
      const caller = { by, representation, origin, sql, replica, apps, userCache, keptSearches, knownPositions }
      const narrowing = await toNarrowing(query, caller)
      const list = (sql: Sql) => listEverywhere(kind, query, { ...caller, sql }, narrowing)
      return reply(200, await showPage(kind, await fromReplica(caller, list), caller))
    },
  })

  const ofApp = route(`GET /api/apps/{app}/${plural}`, {
    summary: `List the ${plural} of an app`,
    auth: 'token or key',
    params: AppPath,
    query: Listing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle(
      { params, query, by, representation, origin },
      { sql, replica, apps, userCache, keptSearches, knownPositions },
    ) {
      const caller = { query, by, representation, origin, sql, replica, apps, userCache, keptSearches, knownPositions }
      const { state } = await openApp(params.app, 'read', caller)
      const { app } = state
      const key = keyOf(kind.entity, state, caller)
      const kept = key === null ? undefined : keptPages.find(key, app)
      if (kept !== undefined) return reply(200, kept)
      const narrowing = await toNarrowing(query, caller)
      const page = await listInApp(kind, state, query, caller, narrowing)
      const shown = await showPage(kind, page, caller, state)
      // Stars differ between callers, and a page that changed meanwhile is not cached.
      if (key === null || state.app !== app || page.rows.some(row => row.star_count > 0)) return reply(200, shown)
      const encoded = new Encoded(writeJson(shown, representation.scalars))
      keptPages.keep(key, app, encoded)
      return reply(200, encoded)
    },
  })

  return [everywhere, ofApp]
}
