import { NotFound } from '../../lib/errors.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { listPage } from '../users/lists/list.ts'
import { PersonListing, SpecialUser, UserList } from '../users/schema.ts'
import { addPeople, removePeople } from './commands.ts'
import { DirectoryMemberPath, DirectoryPath, PeopleRefs, PeopleUnknown } from './schema.ts'
import { findDirectory } from './store.ts'

const list = route('GET /api/directories/{dir}/members', {
  summary: 'List the people in a directory',
  auth: 'token or key',
  params: DirectoryPath,
  query: PersonListing,
  replies: { 200: UserList },
  problems: [NotFound],
  async handle({ params, query, by, representation, origin }, { sql, presence }) {
    const directory = await findDirectory(sql, params.dir, by)
    if (directory === null) throw NotFound()
    return reply(200, await listPage(query, [String(directory.id)], { by, representation, origin, sql, presence }))
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

export const memberRoutes = [list, changeOne('PUT'), changeMany('PUT'), changeOne('DELETE'), changeMany('DELETE')]
