import { Badge } from '../../parts/badge.tsx'
import type { Column } from '../../parts/table.tsx'
import type { AgentFunction } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { EditFunction } from './function-dialog.tsx'
import { NamedList } from './named-list.tsx'

const { agents } = texts

const columns: Column<AgentFunction>[] = [
  { title: agents.functionName, isName: true, show: ({ name }) => <code>{name}</code> },
  {
    title: agents.endpoint,
    show: ({ method, url }) => (
      <>
        <Badge>{method}</Badge> <code>{url}</code>
      </>
    ),
  },
  { title: agents.description, show: ({ description }) => <span class="small plain">{description}</span> },
]

/** The endpoints that an agent may call. */
export function AgentFunctions({ id }: { id: string }) {
  return (
    <NamedList
      path={`/agents/${id}/functions`}
      columns={columns}
      Edit={EditFunction}
      title={agents.functions}
      add={agents.addFunction}
      none={agents.noFunctions}
      remove={agents.removeFunction}
      removeHint={agents.removeFunctionHint}
    />
  )
}
