import { Badge } from '../../parts/badge.tsx'
import { AskButton } from '../../parts/buttons.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ChoiceField, TextField } from '../../parts/field.tsx'
import type { Values } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Empty, type Column } from '../../parts/table.tsx'
import type { OfferedTool, ToolServer } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { NamedList } from './named-list.tsx'

const { agents } = texts
const modes = (['always', 'never'] as const).map(value => ({ value, title: agents.approvals[value] }))

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
      more={path => (
        <AskButton isSmall ask={<OfferedTools path={`${path}/tools`} />}>
          {agents.listTools}
        </AskButton>
      )}
      Fields={Fields}
      toBody={toBody}
      texts={{
        title: agents.servers,
        name: agents.serverName,
        add: agents.addServer,
        edit: agents.editServer,
        none: agents.noServers,
        remove: agents.removeServer,
        removeHint: agents.removeServerHint,
      }}
    />
  )
}

function Fields({ of }: { of: ToolServer | undefined }) {
  return (
    <>
      <TextField name="url" label={agents.url} type="url" placeholder="https://" value={of?.url} isRequired />
      <TextField name="description" label={agents.description} value={of?.description} />
      <ChoiceField name="approval_mode" label={agents.approval} choices={modes} value={of?.approval_mode} />
      <TextField
        name="allowed_tools"
        label={agents.allowed}
        hint={agents.allowedHint}
        value={(of?.allowed_tools ?? []).join(', ')}
      />
    </>
  )
}

function toBody(values: Values) {
  const allowed = values.words('allowed_tools')
  return {
    url: values.text('url'),
    description: values.textOrNull('description'),
    approval_mode: values.text('approval_mode'),
    allowed_tools: allowed.length === 0 ? null : allowed,
  }
}

/** The tools that a server has now, whether the agent may use them or not. The server is asked when this opens. */
function OfferedTools({ path }: { path: string }) {
  const tools = useResource<OfferedTool[]>(path)
  return (
    <Dialog title={agents.offered}>
      <Loaded of={tools} rows={3}>
        {list =>
          list.length === 0 ? (
            <Empty text={agents.noTools} />
          ) : (
            <ul class="tools">
              {list.map(({ name, title, description, is_allowed, input_schema }) => (
                <li key={name}>
                  <div class="badges">
                    <code>{name}</code>
                    {title !== undefined && <span>{title}</span>}
                    {!is_allowed && <Badge tone="warn">{agents.notAllowed}</Badge>}
                  </div>
                  <p class="small plain">{description}</p>
                  <details>
                    <summary class="small">{agents.parameters}</summary>
                    <pre tabIndex={0}>{JSON.stringify(input_schema, null, 2)}</pre>
                  </details>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  )
}
