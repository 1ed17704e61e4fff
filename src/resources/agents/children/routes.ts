import { z } from 'zod'
import { reply } from '../../../http/route.ts'
import { route, type Route } from '../../route.ts'
import { NotFound, requireFound } from '../../../lib/errors.ts'
import type { Vault } from '../../../lib/vault.ts'
import { requireAgentId } from '../find.ts'
import { AgentPath } from '../schema.ts'
import { childCommands } from './commands.ts'
import type { ChildKind, ChildUpdate } from './kind.ts'
import type { ChildRow, StoredChild } from './store.ts'

export const ChildPath = z.object({ agent: z.string(), name: z.string() })

/** The endpoints of children of one kind. */
export function childRoutes<Row extends ChildRow, New extends Update & { name: string }, Update extends ChildUpdate>(
  kind: ChildKind<Row, New, Update>,
): Route[] {
  const { noun, shapes, store } = kind
  const commands = childCommands(kind)
  const all = `/api/agents/{agent}/${kind.path}`
  const one = `${all}/{name}`
  const show = (vault: Vault, row: StoredChild<Row>) => kind.show(store.open(vault, row))

  const add = route(`POST ${all}`, {
    summary: `Add ${noun.article} ${noun.one} that an agent may use`,
    auth: 'key',
    params: AgentPath,
    body: shapes.new,
    creates: true,
    replies: { 201: shapes.shown },
    problems: [NotFound],
    async handle({ params, body, by, idempotencyKey }, { globalCommands, vault }) {
      const row = await globalCommands.run(commands.add, by, { agent: params.agent, given: body }, idempotencyKey)
      return reply(201, show(vault, row))
    },
  })

  const get = route(`GET ${one}`, {
    summary: `Get ${noun.article} ${noun.one} of an agent`,
    auth: 'key',
    params: ChildPath,
    replies: { 200: shapes.shown },
    problems: [NotFound],
    async handle({ params }, { sql, vault }) {
      const row = requireFound(await store.find(sql, await requireAgentId(sql, params.agent), params.name))
      return reply(200, show(vault, row))
    },
  })

  const update = route(`PATCH ${one}`, {
    summary: `Update or rename ${noun.article} ${noun.one} of an agent`,
    auth: 'key',
    params: ChildPath,
    body: shapes.update,
    replies: { 200: shapes.shown },
    problems: [NotFound],
    async handle({ params, body, by }, { globalCommands, vault }) {
      return reply(200, show(vault, await globalCommands.run(commands.update, by, { ...params, given: body })))
    },
  })

  const put = route(`PUT ${one}`, {
    summary: `Add or update ${noun.article} ${noun.one} of an agent by name`,
    auth: 'key',
    params: ChildPath,
    body: shapes.new,
    replies: { 200: shapes.shown, 201: shapes.shown },
    problems: [NotFound],
    async handle({ params, body, by }, { globalCommands, vault }) {
      const { row, isNew } = await globalCommands.run(commands.put, by, { ...params, given: body })
      return isNew ? reply(201, show(vault, row)) : reply(200, show(vault, row))
    },
  })

  const list = route(`GET ${all}`, {
    summary: `List the ${noun.many} of an agent`,
    auth: 'key',
    params: AgentPath,
    replies: { 200: z.array(shapes.shown) },
    problems: [NotFound],
    async handle({ params }, { sql, vault }) {
      const rows = await store.list(sql, await requireAgentId(sql, params.agent))
      return reply(
        200,
        Array.from(rows, row => show(vault, row)),
      )
    },
  })

  const remove = route(`DELETE ${one}`, {
    summary: `Remove ${noun.article} ${noun.one} of an agent`,
    auth: 'key',
    params: ChildPath,
    replies: { 204: null },
    problems: [NotFound],
    async handle({ params, by }, { globalCommands }) {
      await globalCommands.run(commands.remove, by, params)
      return reply(204)
    },
  })

  return [add, get, update, put, list, remove]
}
