import { Card } from '../../parts/card.tsx'
import { AreaField, CheckField, TextField } from '../../parts/field.tsx'
import { Form, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { Agent } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { ProviderField } from './create-agent.tsx'

const { agents } = texts

/** What an agent is, and what it is told of who it is. */
export function AgentSettings({ of: agent, onDone }: { of: Agent; onDone: () => void }) {
  const server = useServer()
  const save = async (values: Values) => {
    await server.patch(`/agents/${agent.id}`, {
      name: values.textOrNull('name'),
      provider: values.text('provider'),
      model: values.text('model'),
      instructions: values.textOrNull('instructions'),
      max_tokens: values.textOrNull('max_tokens'),
      web_search: values.isOn('web_search'),
      knowledge: values.words('knowledge'),
      directories: values.words('directories'),
    })
    onDone()
    return agents.savedNotice
  }
  return (
    <Card>
      <Form submit={texts.save} onSubmit={save}>
        <div class="pair">
          <TextField name="name" label={agents.name} value={agent.name} isRequired />
          <ProviderField value={agent.provider} />
          <TextField name="model" label={agents.model} hint={agents.modelHint} value={agent.model} isRequired />
          <TextField
            name="max_tokens"
            label={agents.maxTokens}
            type="number"
            hint={agents.maxTokensHint}
            value={agent.max_tokens === undefined ? '' : String(agent.max_tokens)}
          />
          <TextField
            name="knowledge"
            label={agents.knowledge}
            hint={agents.knowledgeHint}
            value={(agent.knowledge ?? []).join(', ')}
          />
          <TextField
            name="directories"
            label={texts.users.directories}
            hint={texts.users.directoriesHint}
            value={(agent.directories ?? []).map(({ name }) => name).join(', ')}
          />
        </div>
        <AreaField
          name="instructions"
          label={agents.instructions}
          hint={agents.instructionsHint}
          rows={10}
          value={agent.instructions}
        />
        <CheckField name="web_search" label={agents.webSearch} isOn={agent.web_search} />
      </Form>
    </Card>
  )
}
