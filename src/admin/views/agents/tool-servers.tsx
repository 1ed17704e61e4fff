import { AskButton } from '../../parts/ask-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Empty, Table, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { ToolServer } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { OfferedTools } from './offered-tools.tsx'
import { EditToolServer } from './tool-server-dialog.tsx'

const { agents } = texts

/** The MCP servers whose tools an agent may use. */
export function ToolServers({ id }: { id: string }) {
  const server = useServer()
  const path = `/agents/${id}/mcp`
  const servers = useResource<ToolServer[]>(path)
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
    {
      title: texts.list.actions,
      isActions: true,
      show: of => (
        <div class="actions">
          <AskButton
            isSmall
            ask={close => <OfferedTools path={`${path}/${encodeURIComponent(of.name)}/tools`} close={close} />}
          >
            {agents.listTools}
          </AskButton>
          <AskButton isSmall ask={close => <EditToolServer {...{ path, of, close }} onDone={servers.reload} />}>
            {texts.edit}
          </AskButton>
          <AskButton
            isSmall
            isDangerous
            ask={close => (
              <Confirm
                title={agents.removeServer}
                text={agents.removeServerHint}
                submit={texts.remove}
                typed={{ name: of.name, otherwise: of.name }}
                close={close}
                onConfirm={async () => {
                  await server.remove(`${path}/${encodeURIComponent(of.name)}`)
                  servers.reload()
                }}
              />
            )}
          >
            {texts.remove}
          </AskButton>
        </div>
      ),
    },
  ]
  return (
    <Card
      title={agents.servers}
      actions={
        <AskButton ask={close => <EditToolServer {...{ path, close }} onDone={servers.reload} />}>
          <Icon name="plus" />
          {agents.addServer}
        </AskButton>
      }
    >
      <Loaded of={servers}>
        {rows =>
          rows.length === 0 ? (
            <Empty text={agents.noServers} />
          ) : (
            <Table label={agents.servers} columns={columns} rows={rows} keyOf={({ name }) => name} />
          )
        }
      </Loaded>
    </Card>
  )
}
