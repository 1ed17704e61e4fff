import { AskButton } from '../../parts/buttons.tsx'
import { Badge } from '../../parts/badge.tsx'
import type { Column } from '../../parts/table.tsx'
import type { ToolServer } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { NamedList } from './named-list.tsx'
import { OfferedTools } from './offered-tools.tsx'
import { EditToolServer } from './tool-server-dialog.tsx'

const { agents } = texts

const columns: Column<ToolServer>[] = [
  { title: agents.serverName, isName: true, show: ({ name }) => <code>{name}</code> },
  { title: agents.url, show: ({ url }) => <code>{url}</code> },
  {
    title: agents.approval,
    show: ({ approval_mode }) => (
      <Badge tone={approval_mode === 'always' ? 'good' : 'warn'}>{agents.approvals[approval_mode]}</Badge>
    ),
  },
  { title: agents.allowed, show: ({ allowed_tools }) => allowed_tools?.join(', ') ?? agents.allTools },
]

/** The MCP servers whose tools an agent may use. */
export function ToolServers({ id }: { id: string }) {
  return (
    <NamedList
      path={`/agents/${id}/mcp`}
      columns={columns}
      actions={path => (
        <AskButton isSmall ask={close => <OfferedTools path={`${path}/tools`} close={close} />}>
          {agents.listTools}
        </AskButton>
      )}
      Edit={EditToolServer}
      title={agents.servers}
      add={agents.addServer}
      none={agents.noServers}
      remove={agents.removeServer}
      removeHint={agents.removeServerHint}
    />
  )
}
