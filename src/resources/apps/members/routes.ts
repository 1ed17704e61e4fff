import { reply } from '../../../http/route.ts'
import { route, type Served } from '../../route.ts'
import type { AppState } from '../../../engine/state.ts'
import { Forbidden, invalid, NotFound } from '../../../lib/errors.ts'
import { toPage, toPagedList } from '../../../api/page.ts'
import { openApp } from '../find.ts'
import { requireVisible } from '../making/prepare.ts'
import { AppPath, MemberItem, Members } from '../schema.ts'
import { findUserId, resolvePeople } from '../../users/store.ts'
import { listInvisible } from '../../users/visible.ts'
import { accessOf } from './access.ts'
import { FixedMembers, putMembers, removeMembers, requireMayRemove, type NewMember } from './commands.ts'
import { showMember } from './represent.ts'
import { MemberInput, MemberItems, MemberListing, MemberPath, MemberRefs, MembersInput } from './schema.ts'
import { listMemberIds, orderFields } from './store.ts'

const list = route('GET /api/apps/{app}/members', {
  summary: 'List the members of an app, or people who could become members',
  auth: 'token or key',
  params: AppPath,
  query: MemberListing,
  replies: { 200: Members },
  problems: [NotFound],
  async handle({ params, query, by }, context) {
    const { state } = await openApp(params.app, 'read', context)
    const page = toPage(query, orderFields, 'name')
    const filter = {
      app: state.app.id,
      memberCount: state.memberCount,
      by,
      isMember: query.member === 'null' ? null : query.member !== 'false',
      isAgent: query.agent,
      withSystem: query.system ?? false,
      isPrefix: query.autocomplete ?? true,
    }
    const { ids, count } = await listMemberIds(context.sql, filter, page)
    await context.userCache.load(ids)
    return reply(
      200,
      toPagedList(
        page,
        count,
        ids.map(id => show(id, state, context)),
      ),
    )
  },
})

const putOne = route('PUT /api/apps/{app}/members/{user}', {
  summary: 'Add a member to an app or change their access',
  auth: 'token or key',
  params: MemberPath,
  body: MemberInput,
  replies: { 200: MemberItem, 201: MemberItem },
  problems: [Forbidden, NotFound, FixedMembers],
  async handle({ params, body }, context) {
    const { state } = await openApp(params.app, 'read', context)
    const user = await findUserId(context.sql, params.user)
    if (user === null || !(await isKnown(user, state, context))) throw NotFound()
    const { added } = await put(state, [{ ref: String(user), access: body.access ?? 'write' }], context)
    const item = show(user, await context.apps.state(state.app.id), context)
    return added > 0 ? reply(201, item) : reply(200, item)
  },
})

const putMany = route('PUT /api/apps/{app}/members', {
  summary: 'Add members to an app or change their access',
  auth: 'token or key',
  params: AppPath,
  body: MembersInput,
  replies: { 200: MemberItems, 201: MemberItems },
  problems: [Forbidden, NotFound, FixedMembers],
  async handle({ params, body }, context) {
    const { state: before } = await openApp(params.app, 'read', context)
    const { added, users } = await put(before, body, context)
    const state = await context.apps.state(before.app.id)
    const items = users.map(user => show(user, state, context))
    return added > 0 ? reply(201, items) : reply(200, items)
  },
})

const removeOne = route('DELETE /api/apps/{app}/members/{user}', {
  summary: 'Remove a member from an app, or several named by ids with commas between',
  auth: 'token or key',
  params: MemberPath,
  replies: { 204: null },
  problems: [Forbidden, NotFound, FixedMembers],
  async handle({ params }, context) {
    const whole = await findUserId(context.sql, params.user)
    const refs = whole === null ? params.user.split(',') : [String(whole)]
    await remove(params.app, refs, context)
    return reply(204)
  },
})

const removeMany = route('DELETE /api/apps/{app}/members', {
  summary: 'Remove members from an app',
  auth: 'token or key',
  params: AppPath,
  body: MemberRefs,
  replies: { 204: null },
  problems: [Forbidden, NotFound, FixedMembers],
  async handle({ params, body }, context) {
    await remove(params.app, body, context)
    return reply(204)
  },
})

type Caller = Served<'sql' | 'apps' | 'userCache' | 'by'>

function show(
  user: number,
  state: AppState,
  { userCache, origin, presence }: Served<'userCache' | 'origin' | 'presence'>,
) {
  const access = state.member(user)?.access ?? accessOf(state, user, userCache)
  return showMember(userCache.show(user), state.member(user), { app: state.app, origin, access, presence })
}

/** Members may see each other; other users only where they are visible. */
async function isKnown(user: number, state: AppState, { sql, by }: Caller): Promise<boolean> {
  if (state.member(user)?.access != null) return true
  return (await listInvisible(sql, by, [user])).length === 0
}

async function put(state: AppState, list: { ref: string; access: NewMember['access'] }[], caller: Caller) {
  const { sql, by, apps, userCache } = caller
  const ids = await resolvePeople(
    sql,
    list.map(({ ref }) => ref),
  )
  const wanted = new Map(list.map(({ ref, access }) => [ids.get(ref), access]))
  // A member need not be visible to have the access changed.
  const others = list.flatMap(({ ref }) => (state.member(ids.get(ref) ?? 0)?.access == null ? [ref] : []))
  await requireVisible(others, 'user', caller)
  const users = [...wanted.keys()].filter(user => user !== undefined)
  if (users.some(user => user <= 0)) throw invalid({ user: ['must be a person or an agent'] })
  await userCache.load(users)
  const added = await apps.run(
    putMembers,
    state.app.id,
    by,
    users.map(user => ({ user, access: wanted.get(user)! })),
  )
  return { added, users }
}

async function remove(app: string, refs: string[], caller: Caller): Promise<void> {
  const { sql, by, apps, userCache } = caller
  const { state } = await openApp(app, 'read', caller)
  const ids = await resolvePeople(sql, refs)
  // Checked first, so that a caller without the right does not learn who exists.
  requireMayRemove(
    { state, by, userCache },
    refs.map(ref => ids.get(ref)),
  )
  if (refs.some(ref => !ids.has(ref))) throw NotFound()
  await apps.run(removeMembers, state.app.id, by, [...new Set(ids.values())])
}

export const routes = [list, putOne, putMany, removeOne, removeMany]
