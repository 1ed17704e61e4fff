import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { Agent, Provider } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'

const { agents } = texts

/** Makes an agent, and goes to it: there is more to set. */
export function CreateAgent({ onDone }: DialogProps) {
  const server = useServer()
  const { go } = usePlace()
  const create = async (values: Values) => {
    const { id } = await server.post<Agent>('/agents', {
      uid: values.text('uid'),
      name: values.text('name'),
      provider: values.text('provider'),
      model: values.text('model'),
      instructions: values.textOrNull('instructions'),
    })
    onDone()
    go(`/agents/${id}`)
    return agents.createdNotice
  }
  return (
    <FormDialog title={agents.create} submit={agents.create} onSubmit={create}>
      <TextField name="uid" label={agents.uid} hint={texts.users.uidHint} isRequired />
      <TextField name="name" label={agents.name} isRequired />
      <ProviderField />
      <TextField name="model" label={agents.model} hint={agents.modelHint} isRequired />
      <AreaField name="instructions" label={agents.instructions} rows={5} />
    </FormDialog>
  )
}

/** The providers of the server; of those without a key it is said. */
export function ProviderField({ value }: { value?: string }) {
  const { data = [] } = useResource<Provider[]>('/agent-providers')
  const choices = data
    .filter(({ id }) => id !== 'builtin' || value === 'builtin')
    .map(({ id, is_configured }) => ({ value: id, title: is_configured ? id : agents.notConfigured(id) }))
  return <ChoiceField key={choices.length} name="provider" label={agents.provider} choices={choices} value={value} />
}
