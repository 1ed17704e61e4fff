import { reply } from '../../../http/route.ts'
import { route } from '../../route.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import { Forbidden, NotFound, requireFound, ValidationFailed } from '../../../lib/errors.ts'
import { Range } from '../../../api/page.ts'
import { actorOf } from '../represent.ts'
import { showDetailed } from '../show.ts'
import { SpecialUser, User, UserList, UserPath } from '../schema.ts'
import { listPage } from '../lists/list.ts'
import { findPerson } from '../store.ts'
import { follow, unfollow } from './commands.ts'

const change = (verb: 'follow' | 'unfollow') =>
  route(`POST /api/users/{user}/${verb}`, {
    summary: verb === 'follow' ? 'Follow a user or agent' : 'Follow a user or agent no longer',
    auth: 'token',
    params: UserPath,
    replies: { 200: User },
    problems: [NotFound, SpecialUser, ValidationFailed],
    async handle({ params, by, origin }, { sql, globalCommands, userCache, presence }) {
      const id = await globalCommands.run(verb === 'follow' ? follow : unfollow, by, params.user)
      const person = await findPerson(sql, String(id), by)
      if (person === null || person.trashed_at !== null) return reply(200, await showUnseen(id, userCache, origin))
      const followed = new Set(verb === 'follow' ? [id] : [])
      return reply(200, await showDetailed(person, { by, origin, followed, presence, sql }))
    },
  })

/** A user whom the caller followed and cannot see: only the short form. */
async function showUnseen(id: number, userCache: UserCache, origin: string): Promise<object> {
  const person = requireFound(await userCache.get(id))
  return { ...actorOf(person, origin), is_followed: false, is_trashed: person.trashed_at !== null }
}

const followers = route('GET /api/users/{user}/followers', {
  summary: 'List those who follow a user or agent',
  auth: 'key',
  params: UserPath,
  query: Range,
  replies: { 200: UserList },
  problems: [NotFound],
  async handle({ params, query, by }, context) {
    const person = await findPerson(context.sql, params.user, by)
    if (person === null || person.trashed_at !== null) throw NotFound()
    return reply(200, await listPage(query, { followersOf: person.id }, context))
  },
})

const following = route('GET /api/users/{user}/following', {
  summary: 'List the users that the caller follows; only of oneself',
  auth: 'token',
  params: UserPath,
  query: Range,
  replies: { 200: UserList },
  problems: [NotFound, Forbidden],
  async handle({ params, query, by }, context) {
    const person = requireFound(await findPerson(context.sql, params.user, by))
    if (person.id !== by.user) throw Forbidden()
    return reply(200, await listPage(query, { followedBy: by.user }, context))
  },
})

export const routes = [change('follow'), change('unfollow'), followers, following]
