import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { AgentFunction } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { readJson } from './json-field.ts'

const { agents } = texts
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(value => ({ value, title: value }))

interface EditFunctionProps {
  path: string
  /** Without it, a new one. */
  of?: AgentFunction
  onDone: () => void
  close: () => void
}

/** Adds a function to an agent, or changes it. Headers are written and never read: they hold credentials. */
export function EditFunction({ path, of, onDone, close }: EditFunctionProps) {
  const server = useServer()
  const save = async (values: Values) => {
    const headers = readJson(values, 'headers')
    const body = {
      name: values.text('name'),
      description: values.text('description'),
      method: values.text('method'),
      url: values.text('url'),
      parameters: readJson(values, 'parameters') ?? null,
      ...(headers !== undefined && { headers }),
    }
    if (of === undefined) await server.post(path, body)
    else await server.patch(`${path}/${encodeURIComponent(of.name)}`, body)
    onDone()
  }
  const title = of === undefined ? agents.addFunction : agents.editFunction
  return (
    <FormDialog title={title} submit={texts.save} close={close} onSubmit={save}>
      <TextField name="name" label={agents.functionName} value={of?.name} isRequired />
      <AreaField
        name="description"
        label={agents.description}
        hint={agents.descriptionHint}
        rows={3}
        value={of?.description}
      />
      <ChoiceField name="method" label={agents.method} choices={methods} value={of?.method} />
      <TextField name="url" label={agents.endpoint} hint={agents.urlHint} value={of?.url} isRequired />
      <AreaField
        name="parameters"
        label={agents.parameters}
        hint={agents.parametersHint}
        rows={6}
        isCode
        value={of?.parameters === undefined ? '' : JSON.stringify(of.parameters, null, 2)}
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
