import { directCommand, type DirectWork } from '../../../actors/direct.ts'
import { audit, differences } from '../../../audit/audit.ts'
import { invalid, NotFound } from '../../../lib/errors.ts'
import { requireActive } from '../lock.ts'
import { sealHeaders } from '../headers.ts'
import { mostServers, type NewToolServer, type StoredServer, type ToolServerUpdate } from './schema.ts'
import * as store from './store.ts'

interface Saved {
  row: StoredServer
  isNew: boolean
}

/** Adds a tool server. Refuses with 422 for a name that is taken, or where there are enough. */
export const addServer = directCommand(
  'addServer',
  async (work: DirectWork, { agent, given }: { agent: string; given: NewToolServer }): Promise<StoredServer> => {
    const id = await requireActive(work, agent)
    return add(work, id, given)
  },
)

/** Changes a tool server, its name too: absent members stay, null clears. 404 where there is none of this name. */
export const updateServer = directCommand(
  'updateServer',
  async (
    work: DirectWork,
    { agent, name, given }: { agent: string; name: string; given: ToolServerUpdate },
  ): Promise<StoredServer> => {
    const id = await requireActive(work, agent)
    const before = await store.findServer(work.sql, id, name)
    if (before === null) throw NotFound()
    return save(work, id, before, given)
  },
)

/** Adds the tool server of this name or changes the one there is. 422 where the body has another name. */
export const putServer = directCommand(
  'putServer',
  async (
    work: DirectWork,
    { agent, name, given }: { agent: string; name: string; given: NewToolServer },
  ): Promise<Saved> => {
    const id = await requireActive(work, agent)
    if (given.name !== name) throw invalid({ name: ['must be the one in the path'] })
    const before = await store.findServer(work.sql, id, name)
    if (before === null) return { row: await add(work, id, given), isNew: true }
    return { row: await save(work, id, before, given), isNew: false }
  },
)

export const removeServer = directCommand(
  'removeServer',
  async (work: DirectWork, { agent, name }: { agent: string; name: string }) => {
    const id = await requireActive(work, agent)
    if (!(await store.removeServer(work.sql, id, name))) throw NotFound()
    audit(work, { action: 'tool_server_removed', target: { type: 'agent', id, name } })
    work.changed('agent_changed', 'user', id)
  },
)

// The agent's user is locked, so nobody else adds or renames at the same time.
async function add(work: DirectWork, agent: number, given: NewToolServer): Promise<StoredServer> {
  const present = await store.listServers(work.sql, agent)
  if (present.some(({ name }) => name === given.name)) throw invalid({ name: ['is taken by another server'] })
  if (present.length >= mostServers) throw invalid({ name: [`an agent has at most ${mostServers} servers`] })
  const row = await store.toStored(work.sql, work.vault, {
    name: given.name,
    url: given.url,
    description: given.description || null,
    allowed_tools: given.allowed_tools ?? null,
    approval_mode: given.approval_mode ?? 'always',
    headers: given.headers ?? null,
  })
  await store.insertServer(work.sql, agent, row)
  audit(work, { action: 'tool_server_added', target: { type: 'agent', id: agent, name: given.name } })
  work.changed('agent_changed', 'user', agent)
  return row
}

async function save(
  work: DirectWork,
  agent: number,
  before: StoredServer,
  given: ToolServerUpdate,
): Promise<StoredServer> {
  const name = given.name ?? before.name
  if (name !== before.name && (await store.findServer(work.sql, agent, name)) !== null) {
    throw invalid({ name: ['is taken by another server'] })
  }
  const { id } = before
  const row: StoredServer = {
    id,
    name,
    url: given.url ?? before.url,
    description: given.description === undefined ? before.description : given.description || null,
    allowed_tools: given.allowed_tools === undefined ? before.allowed_tools : given.allowed_tools,
    approval_mode: given.approval_mode === undefined ? before.approval_mode : (given.approval_mode ?? 'always'),
    headers:
      given.headers === undefined
        ? before.headers
        : sealHeaders(work.vault, given.headers, { table: 'agent_servers', id }),
  }
  await store.updateServer(work.sql, agent, before.name, row)
  const changed = differences(before, row, ['name', 'url', 'description', 'allowed_tools', 'approval_mode'])
  if (changed !== null)
    audit(work, { action: 'tool_server_updated', target: { type: 'agent', id: agent, name }, ...changed })
  work.changed('agent_changed', 'user', agent)
  return row
}
