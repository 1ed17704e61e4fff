import type { z } from 'zod'
import { reply, route, type Route, type RouteRequest } from '../../http/route.ts'
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

/** One kind's lists: what their items look like, and how they can be narrowed down beyond what all lists can. */
interface Lists<Query extends ContentListing> {
  Item: z.ZodType
  Summary: z.ZodType
  Listing: z.ZodType<Query>
  toNarrowing?: (
    query: Query,
    caller: Pick<RouteRequest<unknown, unknown, unknown>, 'sql' | 'by'>,
  ) => Promise<Narrowing>
}

/** The lists of an app's items, and of those in all apps. */
export function listRoutes<Query extends ContentListing>(
  kind: ContentKind,
  { Item, Summary, Listing, toNarrowing = async () => ({}) }: Lists<Query>,
): Route[] {
  const plural = `${kind.entity}s`
  const Items = pagedList(Item.or(Summary))

  const everywhere = route({
    method: 'GET',
    path: `/api/${plural}`,
    summary: `List the ${plural} of all apps that the caller may read`,
    auth: 'token or key',
    query: Listing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle(request) {
      const { query, by, people } = request
      const narrowing = await toNarrowing(query, request)
      const list = (sql: Sql) => listEverywhere(kind, query, { sql, by, people, replica: null }, narrowing)
      return reply(200, await showPage(kind, await fromReplica(request, list), request))
    },
  })

  const ofApp = route({
    method: 'GET',
    path: `/api/apps/{app}/${plural}`,
    summary: `List the ${plural} of an app`,
    auth: 'token or key',
    params: AppPath,
    query: Listing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle(request) {
      const { params, query, form } = request
      const { state } = await openApp(params.app, 'read', request)
      const { app } = state
      const key = keyOf(kind.entity, state, request)
      const kept = key === null ? undefined : keptPages.find(key, app)
      if (kept !== undefined) return reply(200, kept)
      const narrowing = await toNarrowing(query, request)
      const page = await listInApp(kind, state, query, request, narrowing)
      const shown = await showPage(kind, page, request, state)
      // Stars are everybody's own, and what changed meanwhile may or may not be on the page.
      if (key === null || state.app !== app || page.rows.some(row => row.star_count > 0)) return reply(200, shown)
      const encoded = new Encoded(writeJson(shown, form.scalars))
      keptPages.keep(key, app, encoded)
      return reply(200, encoded)
    },
  })

  return [everywhere, ofApp]
}
