import { useState } from 'react'
import type { ParleyError } from '@parley/client'
import { useParley } from '../../hooks/context.tsx'
import { focusRow } from '../base/focus.ts'
import { useTexts } from '../base/texts.tsx'

interface Asked {
  id: string
  tool: string
  arguments?: Record<string, unknown>
  state: string
}

/** What an agent asks for in the metadata of an item: approval of one call of a tool. */
export function toAsked(metadata: Record<string, unknown> | undefined): Asked | undefined {
  const asked = metadata?.tool_approval as Asked | undefined
  return typeof asked?.tool === 'string' ? asked : undefined
}

/** What an agent wants to do, in words, and the decision. */
export function Approval({ asked, agent }: { asked: Asked; agent: string }) {
  const texts = useTexts()
  const parley = useParley()
  const [error, setError] = useState<string>()
  const decide = (approved: boolean, button: Element) => {
    focusRow(button)
    setError(undefined)
    parley.http
      .post('/api/approvals/{id}', { path: { id: asked.id }, body: { approved } })
      .catch((error: ParleyError) => setError(error.message))
  }
  return (
    <section className="pl-approval" data-state={asked.state} aria-label={texts.asksToUse(agent, toWords(asked.tool))}>
      <p>
        <strong>{texts.asksToUse(agent, toWords(asked.tool))}</strong>
      </p>
      <dl>
        {Object.entries(asked.arguments ?? {}).map(([name, value]) => (
          <div key={name}>
            <dt>{toWords(name)}</dt>
            <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
      {asked.state === 'pending' ? (
        <p className="pl-buttons">
          <button type="button" className="pl-primary" onClick={({ currentTarget }) => decide(true, currentTarget)}>
            {texts.approve}
          </button>
          <button type="button" onClick={({ currentTarget }) => decide(false, currentTarget)}>
            {texts.decline}
          </button>
        </p>
      ) : (
        <p className="pl-muted">{texts.approvalStates[asked.state] ?? asked.state}</p>
      )}
      {error !== undefined && <p role="alert">{error}</p>}
    </section>
  )
}

/** `book_room` as words. */
function toWords(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
