import type { z } from 'zod'
import type { Served } from '../route.ts'
import { findUnlessGone } from '../apps/find.ts'
import { canRead } from '../apps/members/access.ts'
import { findPerson } from '../users/store.ts'
import { custom } from './represent.ts'
import { NotifiesPeople, UnknownLink, UnknownUser, type Draft, type NewNotification } from './schema.ts'
import { findLink } from './store.ts'

type Request = Served<'sql' | 'apps' | 'userCache' | 'now' | 'by'>

/**
 * Resolves the references in the body of a new notification. 422 for unknown users, agents, and links that lead
 * nowhere.
 */
export async function toDraft(body: z.output<typeof NewNotification>, request: Request): Promise<Draft> {
  const { sql, by, now } = request
  const user = await findPerson(sql, body.user, by)
  if (user === null || user.trashed_at !== null || user.id <= 0) throw UnknownUser()
  if (user.is_agent) throw NotifiesPeople()
  const link = body.link ? await requireLink(body.link, user.id, request) : null
  return {
    user_id: user.id,
    app_id: link?.app_id ?? null,
    type: 'activity',
    action: custom,
    actor_ids: [by.user],
    template: body.text,
    args: [],
    link_type: body.link?.type ?? null,
    link_id: body.link?.id ?? null,
    parent_type: link?.parent_type ?? null,
    parent_id: link?.parent_id ?? null,
    metadata: body.metadata ?? null,
    created_at: now(),
    from_id: null,
  }
}

async function requireLink(
  { type, id }: NonNullable<z.output<typeof NewNotification>['link']>,
  user: number,
  request: Request,
) {
  const { sql, apps, userCache } = request
  const link = await findLink(sql, type, id)
  const state = link === null ? null : await findUnlessGone(link.app_id, apps)
  await userCache.load([user])
  if (link === null || state === null || !canRead(state, user, userCache)) throw UnknownLink()
  return link
}
