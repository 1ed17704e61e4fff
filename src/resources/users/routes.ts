import { NotFound, requireFound } from '../../lib/errors.ts'
import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { findFollowed } from './follows/store.ts'
import { createUser, deleteUser, restoreUser, trashUser, updateUser, upsertUser, type Saved } from './commands.ts'
import { listPage } from './lists/list.ts'
import { hashPassword } from './password.ts'
import type { UserChange } from './profile.ts'
import { pictureBodyLimitBytes } from '../blobs/pictures/schema.ts'
import { withPicture, type PictureCaller } from '../blobs/pictures/picture.ts'
import { showDetailed } from './show.ts'
import {
  NewUser,
  PersonListing,
  SpecialUser,
  UidPath,
  User,
  UserList,
  UserPath,
  UserQuery,
  UserUpdate,
} from './schema.ts'
import { findPerson } from './store.ts'

const create = route('POST /api/users', {
  summary: 'Create a user',
  auth: 'key',
  body: NewUser,
  bodyLimitBytes: pictureBodyLimitBytes,
  creates: true,
  replies: { 201: User },
  async handle({ body, by, idempotencyKey }, context) {
    const given = { ...(await toChange(body, context)), uid: body.uid }
    return reply(201, await showSaved(await context.globalCommands.run(createUser, by, given, idempotencyKey), context))
  },
})

const read = route('GET /api/users/{user}', {
  summary: 'Get a user or agent',
  auth: 'token or key',
  params: UserPath,
  query: UserQuery,
  replies: { 200: User },
  problems: [NotFound],
  async handle({ params, query, by, origin }, { sql, presence }) {
    const person = requireFound(await findPerson(sql, params.user, by))
    // Trashed users are visible to API keys only, which may restore them.
    const showsTrashed = by.kind === 'key' && query.trashed !== undefined && query.trashed !== 'false'
    if (person.trashed_at !== null && !showsTrashed) throw NotFound()
    const followed = await findFollowed(sql, by, [person.id])
    return reply(200, await showDetailed(person, { by, origin, followed, presence, sql }))
  },
})

const readSelf = route('GET /api/user', {
  summary: 'Get the authenticated user',
  auth: 'token',
  replies: { 200: User },
  async handle({ by, origin }, { sql, userCache, presence }) {
    // Every UI component asks for this when it loads, so the answer comes from memory.
    const person = requireFound(await userCache.get(by.user))
    return reply(200, await showDetailed(person, { by, origin, followed: new Set(), presence, sql }))
  },
})

const update = route('PATCH /api/users/{user}', {
  summary: 'Update a user; absent members stay, null clears',
  auth: 'key',
  params: UserPath,
  body: UserUpdate,
  bodyLimitBytes: pictureBodyLimitBytes,
  replies: { 200: User },
  problems: [NotFound, SpecialUser],
  async handle({ params, body, by }, context) {
    const saved = await context.globalCommands.run(updateUser, by, {
      user: params.user,
      given: await toChange(body, context),
    })
    return reply(200, await showSaved(saved, context))
  },
})

const upsert = route('PUT /api/users/{uid}', {
  summary: 'Update the user with this uid, or create it',
  description:
    'Send it whenever a user signs in to your product: it creates the user, or brings name, picture and the rest ' +
    'up to date. Members that are left out stay as they are.',
  auth: 'key',
  params: UidPath,
  body: UserUpdate,
  bodyLimitBytes: pictureBodyLimitBytes,
  replies: { 200: User, 201: User },
  async handle({ params, body, by }, context) {
    const saved = await context.globalCommands.run(upsertUser, by, {
      uid: params.uid,
      given: await toChange(body, context),
    })
    const user = await showSaved(saved, context)
    return saved.isNew ? reply(201, user) : reply(200, user)
  },
})

const list = route('GET /api/users', {
  summary: 'List the users and agents that are visible to the caller',
  auth: 'token or key',
  query: PersonListing,
  replies: { 200: UserList },
  async handle({ query }, context) {
    return reply(200, await listPage(query, {}, context))
  },
})

const change = (verb: 'trash' | 'restore') =>
  route(`POST /api/users/{user}/${verb}`, {
    summary: verb === 'trash' ? 'Trash a user: out of sight, and its tokens are rejected' : 'Restore a trashed user',
    auth: 'key',
    params: UserPath,
    replies: { 204: null },
    problems: [NotFound, SpecialUser],
    async handle({ params, by }, { globalCommands }) {
      await globalCommands.run<string, unknown>(verb === 'trash' ? trashUser : restoreUser, by, params.user)
      return reply(204)
    },
  })

/** Ends the memberships of a user who is about to be deleted. Apps come later in the order of resources. */
export type LeaveApps = (user: number, request: Served<'sql' | 'apps' | 'by'>) => Promise<void>

const remove = (leaveApps: LeaveApps) =>
  route('DELETE /api/users/{user}', {
    summary: 'Delete a user for good; what it wrote stays',
    description:
      'Messages, posts and files stay and show the deleted user as their author. Trash the user instead where ' +
      'this may have to be undone.',
    auth: 'key',
    params: UserPath,
    replies: { 204: null },
    problems: [NotFound, SpecialUser],
    async handle({ params, by }, context) {
      // Trashed first, so that the user joins nothing while leaving; after a crash in between, the user can be deleted
      // again, and no membership lacks its user.
      const user = await context.globalCommands.run(trashUser, by, params.user)
      await leaveApps(user, context)
      await context.globalCommands.run(deleteUser, by, String(user))
      return reply(204)
    },
  })

async function toChange(body: UserUpdate, caller: PictureCaller): Promise<UserChange> {
  const { password, ...rest } = await withPicture(body, caller)
  if (password === undefined || password === null) return { ...rest, password_hash: password }
  return { ...rest, password_hash: await hashPassword(password) }
}

type Request = Served<'sql' | 'userCache' | 'presence' | 'by' | 'origin'>

/** The user after a write, trashed or not: only API keys write users, and they see all. */
async function showSaved({ id }: Saved, { sql, by, origin, presence, userCache }: Request) {
  const person = requireFound(await userCache.get(id))
  return showDetailed(person, { by, origin, followed: new Set(), presence, sql })
}

export const routes = (leaveApps: LeaveApps) => [
  create,
  list,
  readSelf,
  read,
  update,
  upsert,
  change('trash'),
  change('restore'),
  remove(leaveApps),
]
