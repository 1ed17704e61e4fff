import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { Forbidden, NotFound, requireFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { requireShown } from '../content/find.ts'
import type { ContentKind } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { vote } from './commands.ts'
import { showOptions, showWithVoters } from './represent.ts'
import { Option, OptionListing, Options, type OptionRow } from './schema.ts'
import { findOption, findVotes, listOptions, listVoters } from './store.ts'

/** The most voters within a detailed option. */
const shownVoters = 100

type Request = Served<'sql' | 'apps' | 'userCache' | 'by' | 'origin'>

const get = route('GET /api/options/{id}', {
  summary: 'Get an option of a poll with its voters',
  auth: 'token or key',
  params: IdPath,
  replies: { 200: Option },
  problems: [NotFound],
  async handle({ params, by }, context) {
    const { id } = await findShown(params.id, context)
    // Again, for its votes must be no older than the place at which its app was found.
    const option = requireFound(await findOption(context.sql, id))
    const voted = by.kind === 'user' ? await findVotes(context.sql, [option.item_id], by.user) : null
    return reply(200, await show(option, voted?.get(option.item_id) === option.id, context))
  },
})

const voteFor = route('POST /api/options/{id}/vote', {
  summary: 'Vote for an option, or withdraw the vote that it has',
  description: 'A second vote for the same option takes it back; a vote for another option of the poll moves it.',
  auth: 'token',
  params: IdPath,
  // Repeating it would undo it.
  creates: true,
  replies: { 200: Option },
  problems: [Forbidden, NotFound],
  async handle({ params, by, idempotencyKey }, context) {
    const found = await findShown(params.id, context)
    const { option, hasVoted } = await context.apps.run(vote, found.app_id, by, found, idempotencyKey)
    return reply(200, await show(option, hasVoted, context))
  },
})

const listOf = (kind: ContentKind) =>
  route(`GET /api/${kind.entity}s/{id}/options`, {
    summary: `List the options of a ${kind.entity}'s poll`,
    auth: 'token or key',
    params: IdPath,
    query: OptionListing,
    replies: { 200: Options },
    problems: [NotFound],
    async handle({ params, query, by, representation }, context) {
      const { row } = await requireShown(kind, toId(params.id), context)
      const options = row.option_count > 0 ? await listOptions(context.sql, [row.id]) : null
      const voted = options !== null && by.kind === 'user' ? await findVotes(context.sql, [row.id], by.user) : null
      const page = toPage(query, ['id'], 'id')
      const all = showOptions(options?.get(row.id) ?? [], voted?.get(row.id))
      const shown = all.slice(page.skip, page.skip + page.take)
      const items = representation.items === 'details' ? shown : shown.map(({ votes: _, ...item }) => item)
      return reply(200, toPagedList(page, all.length, items))
    },
  })

/** The option with this id, of an item that the caller may see; otherwise 404. */
async function findShown(id: string, request: Request): Promise<OptionRow> {
  const option = requireFound(await findOption(request.sql, toId(id)))
  await requireShown(kinds[option.item_type], option.item_id, request)
  return option
}

async function show(option: OptionRow, hasVoted: boolean, { sql, userCache, origin }: Request): Promise<object> {
  const users = option.vote_count > 0 ? await listVoters(sql, option.id, shownVoters) : []
  await userCache.load(users)
  return showWithVoters(option, { users, hasVoted, userCache, origin })
}

export const routes = [get, voteFor, ...Object.values(kinds).map(listOf)]
