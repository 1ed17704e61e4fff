import { Badge } from '../../parts/badge.tsx'
import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import type { Values } from '../../parts/form.tsx'
import type { Column } from '../../parts/table.tsx'
import type { AgentFunction } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { NamedList } from './named-list.tsx'

const { agents } = texts
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(value => ({ value, title: value }))

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
      Fields={Fields}
      toBody={toBody}
      texts={{
        title: agents.functions,
        name: agents.functionName,
        add: agents.addFunction,
        edit: agents.editFunction,
        none: agents.noFunctions,
        remove: agents.removeFunction,
        removeHint: agents.removeFunctionHint,
      }}
    />
  )
}

function Fields({ of }: { of: AgentFunction | undefined }) {
  return (
    <>
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
    </>
  )
}

const toBody = (values: Values) => ({
  description: values.text('description'),
  method: values.text('method'),
  url: values.text('url'),
  parameters: values.json('parameters') ?? null,
})
