import { NotFound } from '../../lib/errors.ts'
import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { listPersons } from '../users/lists/pages.ts'
import { findFollowed } from '../users/follows/store.ts'
import { createDirectory, renameDirectory } from './commands.ts'
import { closeDirectory, type ClearDirectory } from './closing.ts'
import { showDirectory, shownMembers } from './represent.ts'
import { Directory, DirectoryExists, DirectoryList, DirectoryListing, DirectoryPath, NewDirectory } from './schema.ts'
import { countDirectories, findDirectory, listDirectories, orderFields } from './store.ts'

const create = route('POST /api/directories', {
  summary: 'Create a directory',
  auth: 'key',
  body: NewDirectory,
  creates: true,
  replies: { 201: Directory },
  problems: [DirectoryExists],
  async handle({ body, by, idempotencyKey, origin }, { sql, globalCommands, presence }) {
    const id = await globalCommands.run(createDirectory, by, body.name, idempotencyKey)
    return reply(201, await show(String(id), { by, origin, sql, presence }))
  },
})

const list = route('GET /api/directories', {
  summary: 'List directories: with a token those that its user is in',
  auth: 'token or key',
  query: DirectoryListing,
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
  async handle({ params, by, origin }, { sql, presence }) {
    return reply(200, await show(params.dir, { by, origin, sql, presence }))
  },
})

const rename = route('PATCH /api/directories/{dir}', {
  summary: 'Rename a directory',
  auth: 'key',
  params: DirectoryPath,
  body: NewDirectory,
  replies: { 200: Directory },
  problems: [NotFound],
  async handle({ params, body, by, origin }, { sql, globalCommands, presence }) {
    const id = await globalCommands.run(renameDirectory, by, { directory: params.dir, name: body.name })
    return reply(200, await show(String(id), { by, origin, sql, presence }))
  },
})

const remove = (clearDirectory: ClearDirectory) =>
  route('DELETE /api/directories/{dir}', {
    summary: 'Delete a directory; apps that refer to it are closed to all but their members',
    auth: 'key',
    params: DirectoryPath,
    replies: { 204: null },
    problems: [NotFound],
    async handle({ params, by }, { apps, globalCommands }) {
      await closeDirectory(params.dir, clearDirectory, { by, apps, globalCommands })
      return reply(204)
    },
  })

type Request = Served<'sql' | 'presence' | 'by' | 'origin'>

async function show(ref: string, { sql, by, origin, presence }: Request) {
  const directory = await findDirectory(sql, ref, by)
  if (directory === null) throw NotFound()
  const filter = { by, directories: [String(directory.id)] }
  const page = toPage({ take: shownMembers }, ['name', 'id'], 'name')
  const { count, persons } = await listPersons(sql, filter, page)
  const ids = persons.map(({ id }) => id)
  return showDirectory(directory, persons, count, { by, origin, followed: await findFollowed(sql, by, ids), presence })
}

export const routes = (clearDirectory: ClearDirectory) => [create, list, read, rename, remove(clearDirectory)]
