import type { AppState } from '../../actors/state.ts'
import type { Parts, RouteRequest } from '../../http/route.ts'
import { Forbidden, invalid, Problem } from '../../lib/errors.ts'
import { UidInput } from '../../lib/shape.ts'
import { accessOf } from '../members/access.ts'
import { joinApp } from '../members/commands.ts'
import { upsertApp } from './commands.ts'
import { createApp } from './create.ts'
import { isChat } from './kinds.ts'
import { toChange, toDraft } from './prepare.ts'
import type { AppUpsert } from './schema.ts'
import { findAppId } from './store.ts'

type Request = Parts & Pick<RouteRequest<{ uid: string }, unknown, AppUpsert>, 'params' | 'body' | 'by'>

/**
 * Makes the app with the uid of the path, or updates it. A token's call lets the caller in where the app was itself
 * made by such a call. Refuses with 403 for an app that the caller may not see, 422 for one of another type.
 */
export async function upsertByUid(request: Request): Promise<{ id: number; isNew: boolean }> {
  const { params, body, by, sql, apps, direct } = request
  const uid = UidInput.safeParse(params.uid)
  if (!uid.success) throw invalid({ uid: uid.error.issues.map(issue => issue.message) })
  const found = await findAppId(sql, params.uid, by)
  if (found === null) {
    const draft = await toDraft({ ...body, uid: params.uid }, by.kind === 'user', request)
    try {
      return await direct.run(createApp, by, draft)
    } catch (error) {
      // Somebody made it since the look: then this is an update.
      const made = error instanceof Problem ? await findAppId(sql, params.uid, by) : null
      if (made === null) throw error
      return update(made, request)
    }
  }
  await apps.state(found)
  return update(found, request)
}

async function update(id: number, request: Request): Promise<{ id: number; isNew: false }> {
  const { body, by, apps, people } = request
  const state = await apps.state(id)
  await people.load([by.user])
  if (state.app.type !== body.type) throw invalid({ type: ['an app of another type has this uid'] })
  const { type: _, ...rest } = body
  const change = await toChange(rest, request)
  if (by.kind === 'user') await letIn(state, request)
  await apps.run(upsertApp, id, by, change)
  return { id, isNew: false }
}

/** Makes the caller a member where an upsert does that; 403 where the caller has no access at all. */
async function letIn(state: AppState, { by, people, apps }: Request): Promise<void> {
  const { app } = state
  const access = accessOf(state, by.user, people)
  const isMember = state.member(by.user)?.access != null
  if (isMember && access === 'none') throw Forbidden()
  if (isMember || app.owner_id === by.user) return
  const isInside =
    app.directory_id === null || people.show(by.user).directories.some(({ id }) => id === app.directory_id)
  const mayJoin = app.is_joinable && app.trashed_at === null && isInside
  if (access === 'none' && !mayJoin) throw Forbidden()
  if (mayJoin || isChat(app.type)) await apps.run(joinApp, app.id, by, undefined)
}
