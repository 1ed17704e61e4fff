import { NotFound, requireFound } from '../../lib/errors.ts'
import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { Listing, toPage, toPagedList } from '../../api/page.ts'
import { listPersons } from '../users/lists/pages.ts'
import { findFollowed } from '../users/follows/store.ts'
import { showUserSummary } from '../users/represent.ts'
import { listPage } from '../users/lists/list.ts'
import { PersonListing, SpecialUser, UserList } from '../users/schema.ts'
import { addPeople, createDirectory, removePeople, renameDirectory } from './commands.ts'
import { closeDirectory, type ClearDirectory } from './closing.ts'
import {
  Directory,
  DirectoryExists,
  DirectoryList,
  DirectoryMemberPath,
  DirectoryPath,
  NewDirectory,
  PeopleRefs,
  PeopleUnknown,
} from './schema.ts'
import { countDirectories, findDirectory, listDirectories, orderFields } from './store.ts'

const create = route('POST /api/directories', {
  summary: 'Create a directory',
  description:
    'A directory for each of your customers keeps their users apart: users see each other where they share one, ' +
    'and apps can be open to one.',
  auth: 'key',
  body: NewDirectory,
  creates: true,
  replies: { 201: Directory },
  problems: [DirectoryExists],
  async handle({ body, by, idempotencyKey }, context) {
    const id = await context.globalCommands.run(createDirectory, by, body.name, idempotencyKey)
    return reply(201, await show(String(id), context))
  },
})

const list = route('GET /api/directories', {
  summary: 'List directories: with a token those that its user is in',
  auth: 'token or key',
  query: Listing,
  replies: { 200: DirectoryList },
  async handle({ query, by }, { sql }) {
    const page = toPage(query, orderFields, 'name')
    const [count, directories] = await Promise.all([
      countDirectories(sql, by, page),
      page.countOnly ? [] : listDirectories(sql, by, page),
    ])
    return reply(200, toPagedList(page, count, directories))
  },
})

const read = route('GET /api/directories/{dir}', {
  summary: 'Get a directory with its first members',
  auth: 'token or key',
  params: DirectoryPath,
  replies: { 200: Directory },
  problems: [NotFound],
  async handle({ params }, context) {
    return reply(200, await show(params.dir, context))
  },
})

const rename = route('PATCH /api/directories/{dir}', {
  summary: 'Rename a directory',
  auth: 'key',
  params: DirectoryPath,
  body: NewDirectory,
  replies: { 200: Directory },
  problems: [NotFound],
  async handle({ params, body, by }, context) {
    const id = await context.globalCommands.run(renameDirectory, by, { directory: params.dir, name: body.name })
    return reply(200, await show(String(id), context))
  },
})

const remove = (clearDirectory: ClearDirectory) =>
  route('DELETE /api/directories/{dir}', {
    summary: 'Delete a directory; apps that refer to it are closed to all but their members',
    auth: 'key',
    params: DirectoryPath,
    replies: { 204: null },
    problems: [NotFound],
    async handle({ params }, context) {
      await closeDirectory(params.dir, clearDirectory, context)
      return reply(204)
    },
  })

const listMembers = route('GET /api/directories/{dir}/members', {
  summary: 'List the people in a directory',
  auth: 'token or key',
  params: DirectoryPath,
  query: PersonListing,
  replies: { 200: UserList },
  problems: [NotFound],
  async handle({ params, query, by }, context) {
    const directory = requireFound(await findDirectory(context.sql, params.dir, by))
    const within = { directories: [String(directory.id)] }
    return reply(200, await listPage(query, within, context))
  },
})

const changeOne = (method: 'PUT' | 'DELETE') =>
  route(`${method} /api/directories/{dir}/members/{user}`, {
    summary: method === 'PUT' ? 'Add a user or agent to a directory' : 'Take a user or agent out of a directory',
    auth: 'key',
    params: DirectoryMemberPath,
    replies: { 204: null },
    problems: [NotFound, SpecialUser],
    async handle({ params, by }, { globalCommands }) {
      await globalCommands.run(commandOf[method], by, { directory: params.dir, people: [params.user] })
      return reply(204)
    },
  })

const changeMany = (method: 'PUT' | 'DELETE') =>
  route(`${method} /api/directories/{dir}/members`, {
    summary:
      method === 'PUT'
        ? 'Add users and agents to a directory, all or none'
        : 'Take users and agents out of a directory',
    auth: 'key',
    params: DirectoryPath,
    body: PeopleRefs,
    replies: { 204: null },
    problems: [NotFound, PeopleUnknown, SpecialUser],
    async handle({ params, body, by }, { globalCommands }) {
      await globalCommands.run(commandOf[method], by, { directory: params.dir, people: body })
      return reply(204)
    },
  })

const commandOf = { PUT: addPeople, DELETE: removePeople }

type Request = Served<'sql' | 'presence' | 'by' | 'origin'>

/** The most members within a detailed directory; the others are in its members list. */
const shownMembers = 25

/** The detailed directory with the first of its members. */
async function show(ref: string, { sql, by, origin, presence }: Request) {
  const directory = requireFound(await findDirectory(sql, ref, by))
  const filter = { by, directories: [String(directory.id)] }
  const page = toPage({ take: shownMembers }, ['name', 'id'], 'name')
  const { count, persons } = await listPersons(sql, filter, page)
  const ids = persons.map(({ id }) => id)
  const viewer = { by, origin, followed: await findFollowed(sql, by, ids), presence }
  const members = persons.map(person => showUserSummary(person, viewer))
  return { ...directory, members: toPagedList(page, count, members) }
}

export const routes = (clearDirectory: ClearDirectory) => [
  create,
  list,
  read,
  rename,
  remove(clearDirectory),
  listMembers,
  changeOne('PUT'),
  changeMany('PUT'),
  changeOne('DELETE'),
  changeMany('DELETE'),
]
