import { directCommand, type DirectWork } from '../../../actors/direct.ts'
import { audit, differences } from '../../../audit/audit.ts'
import { invalid, NotFound } from '../../../lib/errors.ts'
import { requireActive } from '../lock.ts'
import { sealHeaders } from '../headers.ts'
import {
  mostFunctions,
  type FunctionRow,
  type FunctionUpdate,
  type NewAgentFunction,
  type StoredFunction,
} from './schema.ts'
import * as store from './store.ts'

interface Saved {
  row: StoredFunction
  isNew: boolean
}

/** Adds a function. Refuses with 422 for a name that is taken, or where there are enough. */
export const addFunction = directCommand(
  'addFunction',
  async (work: DirectWork, { agent, given }: { agent: string; given: NewAgentFunction }): Promise<StoredFunction> => {
    const id = await requireActive(work, agent)
    return add(work, id, given)
  },
)

/** Changes a function, its name too: absent members stay, null clears. 404 where there is none of this name. */
export const updateFunction = directCommand(
  'updateFunction',
  async (
    work: DirectWork,
    { agent, name, given }: { agent: string; name: string; given: FunctionUpdate },
  ): Promise<StoredFunction> => {
    const id = await requireActive(work, agent)
    const before = await store.findFunction(work.sql, id, name)
    if (before === null) throw NotFound()
    return save(work, id, before, given)
  },
)

/** Adds the function of this name or changes the one there is. 422 where the body has another name. */
export const putFunction = directCommand(
  'putFunction',
  async (
    work: DirectWork,
    { agent, name, given }: { agent: string; name: string; given: NewAgentFunction },
  ): Promise<Saved> => {
    const id = await requireActive(work, agent)
    if (given.name !== name) throw invalid({ name: ['must be the one in the path'] })
    const before = await store.findFunction(work.sql, id, name)
    if (before === null) return { row: await add(work, id, given), isNew: true }
    return { row: await save(work, id, before, given), isNew: false }
  },
)

export const removeFunction = directCommand(
  'removeFunction',
  async (work: DirectWork, { agent, name }: { agent: string; name: string }) => {
    const id = await requireActive(work, agent)
    if (!(await store.removeFunction(work.sql, id, name))) throw NotFound()
    audit(work, { action: 'function_removed', target: { type: 'agent', id, name } })
    work.changed('agent_changed', 'user', id)
  },
)

/** What a new function is, with what it was not given. */
export function toRow({ name, description, method, url, headers, parameters }: NewAgentFunction): FunctionRow {
  return { name, description, method: method ?? 'GET', url, headers: headers ?? null, parameters: parameters ?? null }
}

// The agent's user is locked, so nobody else adds or renames at the same time.
async function add(work: DirectWork, agent: number, given: NewAgentFunction): Promise<StoredFunction> {
  const present = await store.listFunctions(work.sql, agent)
  if (present.some(({ name }) => name === given.name)) throw invalid({ name: ['is taken by another function'] })
  if (present.length >= mostFunctions) throw invalid({ name: [`an agent has at most ${mostFunctions} functions`] })
  const [row] = await store.toStored(work.sql, work.vault, [toRow(given)])
  await store.insertFunctions(work.sql, agent, [row!])
  audit(work, { action: 'function_added', target: { type: 'agent', id: agent, name: given.name } })
  work.changed('agent_changed', 'user', agent)
  return row!
}

async function save(
  work: DirectWork,
  agent: number,
  before: StoredFunction,
  given: FunctionUpdate,
): Promise<StoredFunction> {
  const name = given.name ?? before.name
  if (name !== before.name && (await store.findFunction(work.sql, agent, name)) !== null) {
    throw invalid({ name: ['is taken by another function'] })
  }
  const { id } = before
  const row: StoredFunction = {
    id,
    name,
    description: given.description ?? before.description,
    method: given.method === undefined ? before.method : (given.method ?? 'GET'),
    url: given.url ?? before.url,
    headers:
      given.headers === undefined
        ? before.headers
        : sealHeaders(work.vault, given.headers, { table: 'agent_functions', id }),
    parameters: given.parameters === undefined ? before.parameters : given.parameters,
  }
  await store.updateFunction(work.sql, agent, before.name, row)
  const changed = differences(before, row, ['name', 'description', 'method', 'url'])
  if (changed !== null)
    audit(work, { action: 'function_updated', target: { type: 'agent', id: agent, name }, ...changed })
  work.changed('agent_changed', 'user', agent)
  return row
}
