import { useAgentWork } from '../../hooks/work.ts'
import type { AppRef } from '../../hooks/items.ts'
import { Avatar } from '../base/avatar.tsx'
import { useTexts } from '../base/texts.tsx'

/** What agents are writing or doing, until their answer is a message. */
export function AgentDrafts({ app }: { app: AppRef }) {
  const texts = useTexts()
  const { data } = useAgentWork(app)
  return data
    .filter(({ run }) => run.state !== 'waiting')
    .map(({ run, draft }) => (
      <div className="pl-message pl-draft" data-first key={run.id} aria-live="off">
        <header>
          <Avatar of={run.agent} />
          <strong>{run.agent.name}</strong>
          <span className="pl-badge">{texts.agent}</span>
        </header>
        <div className="pl-bubble">
          {draft === '' ? (
            <p className="pl-muted">
              {run.tool === undefined ? texts.working(run.agent.name) : texts.usingTool(run.agent.name, run.tool)}
            </p>
          ) : (
            <div className="pl-text pl-text-typed">{draft}</div>
          )}
        </div>
      </div>
    ))
}
