import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { ToolServer } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { readJson } from './json-field.ts'

const { agents } = texts

const modes = (['always', 'never'] as const).map(value => ({ value, title: agents.approvals[value] }))

interface EditToolServerProps {
  path: string
  /** Without it, a new one. */
  of?: ToolServer
  onDone: () => void
  close: () => void
}

/** Adds an MCP server to an agent, or changes it. Headers are written and never read: they hold credentials. */
export function EditToolServer({ path, of, onDone, close }: EditToolServerProps) {
  const server = useServer()
  const save = async (values: Values) => {
    const headers = readJson(values, 'headers')
    const allowed = values.words('allowed_tools')
    const body = {
      name: values.text('name'),
      url: values.text('url'),
      description: values.textOrNull('description'),
      approval_mode: values.text('approval_mode'),
      allowed_tools: allowed.length === 0 ? null : allowed,
      ...(headers !== undefined && { headers }),
    }
    if (of === undefined) await server.post(path, body)
    else await server.patch(`${path}/${encodeURIComponent(of.name)}`, body)
    onDone()
  }
  const title = of === undefined ? agents.addServer : agents.editServer
  return (
    <FormDialog title={title} submit={texts.save} close={close} onSubmit={save}>
      <TextField name="name" label={agents.serverName} value={of?.name} isRequired />
      <TextField name="url" label={agents.url} type="url" placeholder="https://" value={of?.url} isRequired />
      <TextField name="description" label={agents.description} value={of?.description} />
      <ChoiceField name="approval_mode" label={agents.approval} choices={modes} value={of?.approval_mode} />
      <TextField
        name="allowed_tools"
        label={agents.allowed}
        hint={agents.allowedHint}
        value={(of?.allowed_tools ?? []).join(', ')}
      />
      <AreaField
        name="headers"
        label={agents.headers}
        hint={of?.headers === undefined ? agents.headersHint : agents.headersSet(Object.keys(of.headers).join(', '))}
        rows={3}
        isCode
      />
    </FormDialog>
  )
}
