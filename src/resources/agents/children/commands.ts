import { globalCommand, type GlobalWork } from '../../../engine/global/command.ts'
import { audit, differences } from '../../../audit/audit.ts'
import { invalid, NotFound, requireFound } from '../../../lib/errors.ts'
import { sealHeaders } from './headers.ts'
import { lockActive } from '../find.ts'
import type { ChildKind, ChildUpdate } from './kind.ts'
import type { ChildRow, StoredChild } from './store.ts'

/** Fields whose values the audit log shows; headers may be secret, and parameters are long. */
const shown = ['name', 'description', 'method', 'url', 'allowed_tools', 'approval_mode'] as never[]

/** The commands for children of one kind. They lock the agent's user, against concurrent changes. */
export function childCommands<Row extends ChildRow, New extends Update & { name: string }, Update extends ChildUpdate>(
  kind: ChildKind<Row, New, Update>,
) {
  const { noun, store, most } = kind
  const { table } = store
  /** The target type in the audit log. */
  const logged = table === 'agent_functions' ? 'function' : 'tool_server'
  const isTaken = () => invalid({ name: [`is taken by another ${noun.one}`] })

  async function insert(work: GlobalWork, agent: number, given: New): Promise<StoredChild<Row>> {
    const present = await store.list(work.sql, agent)
    if (present.some(({ name }) => name === given.name)) throw isTaken()
    if (present.length >= most) throw invalid({ name: [`an agent has at most ${most} ${noun.many}`] })
    const row = await store.insert(work.sql, work.vault, agent, kind.toRow(given))
    audit(work, { action: `${logged}_added`, target: { type: 'agent', id: agent, name: given.name } })
    work.changed('agent_changed', 'user', agent)
    return row
  }

  async function save(work: GlobalWork, agent: number, before: StoredChild<Row>, given: Update) {
    const name = given.name ?? before.name
    if (name !== before.name && (await store.find(work.sql, agent, name)) !== null) throw isTaken()
    const { id } = before
    const headers = given.headers === undefined ? before.headers : sealHeaders(work.vault, given.headers, { table, id })
    const row = { ...kind.change(before, given), name, headers }
    await store.update(work.sql, agent, before.name, row)
    const changed = differences<object>(before, row, shown)
    if (changed !== null)
      audit(work, { action: `${logged}_updated`, target: { type: 'agent', id: agent, name }, ...changed })
    work.changed('agent_changed', 'user', agent)
    return row
  }

  return {
    /** Adds a child. 422 for a taken name, and at the limit. */
    add: globalCommand(
      `add_agent_${noun.one}`,
      async (work: GlobalWork, { agent, given }: { agent: string; given: New }): Promise<StoredChild<Row>> =>
        insert(work, (await lockActive(work, agent)).id, given),
    ),
    /** Changes a child, name included: absent members stay, null clears. 404 for an unknown name. */
    update: globalCommand(
      `update_agent_${noun.one}`,
      async (work: GlobalWork, { agent, name, given }: { agent: string; name: string; given: Update }) => {
        const { id } = await lockActive(work, agent)
        const before = requireFound(await store.find(work.sql, id, name))
        return save(work, id, before, given)
      },
    ),
    /** Adds or changes the child with this name. 422 where the body has another name. */
    put: globalCommand(
      `put_agent_${noun.one}`,
      async (work: GlobalWork, { agent, name, given }: { agent: string; name: string; given: New }) => {
        const { id } = await lockActive(work, agent)
        if (given.name !== name) throw invalid({ name: ['must be the one in the path'] })
        const before = await store.find(work.sql, id, name)
        if (before === null) return { row: await insert(work, id, given), isNew: true }
        return { row: await save(work, id, before, given), isNew: false }
      },
    ),
    remove: globalCommand(
      `remove_agent_${noun.one}`,
      async (work: GlobalWork, { agent, name }: { agent: string; name: string }) => {
        const { id } = await lockActive(work, agent)
        if (!(await store.remove(work.sql, id, name))) throw NotFound()
        audit(work, { action: `${logged}_removed`, target: { type: 'agent', id, name } })
        work.changed('agent_changed', 'user', id)
      },
    ),
  }
}
