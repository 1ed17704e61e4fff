import { useState } from 'preact/hooks'
import { sayCount, sayDuration } from '../../parts/amount.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import { Form, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { AgentTest } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { agents } = texts
const toolModes = (['dry', 'none', 'real'] as const).map(value => ({ value, title: agents.toolModes[value] }))

/** As many turns as the API takes as history. */
const mostHistory = 20

interface Turn {
  question: string
  answer: AgentTest
}

/** A conversation with an agent that nobody else sees, and that is kept nowhere. */
export function TestChat({ id }: { id: string }) {
  const server = useServer()
  const [turns, setTurns] = useState<Turn[]>([])
  const ask = async (values: Values) => {
    const question = values.text('text')
    const history = turns.flatMap(({ question, answer }) => [
      { role: 'user', text: question },
      ...(answer.text === '' ? [] : [{ role: 'agent', text: answer.text }]),
    ])
    const answer = await server.post<AgentTest>(`/agents/${id}/test`, {
      text: question,
      user: values.textOrNull('user'),
      tools: values.text('tools'),
      history: history.slice(-mostHistory),
    })
    setTurns(before => [...before, { question, answer }])
  }
  return (
    <Card title={agents.test}>
      {turns.length === 0 && <p class="inside muted">{agents.testHint}</p>}
      {turns.length > 0 && (
        <div class="talk">
          {turns.map(({ question, answer }, index) => (
            <>
              <div class="turn asked plain" key={`asked ${index}`}>
                {question}
              </div>
              <Answer key={`answer ${index}`} of={answer} />
            </>
          ))}
        </div>
      )}
      <Form submit={agents.ask} onSubmit={ask}>
        <AreaField key={turns.length} name="text" label={agents.question} rows={3} />
        <div class="pair">
          <TextField name="user" label={agents.asker} hint={agents.askerHint} />
          <ChoiceField name="tools" label={agents.tools} choices={toolModes} />
        </div>
      </Form>
    </Card>
  )
}

function Answer({ of: { text, error, detail, usage, duration, steps = [] } }: { of: AgentTest }) {
  return (
    <div class="turn">
      {text !== '' && <div class="plain">{text}</div>}
      {error !== undefined && (
        <p>
          <Badge tone="bad">{error}</Badge> {detail}
        </p>
      )}
      {steps.map(({ kind, name, outcome, arguments: given, result }, index) => (
        <details key={index}>
          <summary class="small">
            {kind} <code>{name}</code> <Badge tone={outcome === 'ok' ? 'good' : 'warn'}>{outcome}</Badge>
          </summary>
          {given !== undefined && <pre tabIndex={0}>{JSON.stringify(given, null, 2)}</pre>}
          {result !== undefined && <pre tabIndex={0}>{result}</pre>}
        </details>
      ))}
      <p class="muted small">{agents.took(sayDuration(duration), sayCount(usage.input), sayCount(usage.output))}</p>
    </div>
  )
}
