import { remedyFor, type Refusal } from '../server/refusal.ts'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'

interface FailureProps {
  refusal: Refusal
  onRetry?: () => void
}

/** A refusal: its reason, its remedy, and the id of its log entry. */
export function Failure({ refusal, onRetry }: FailureProps) {
  const remedy = remedyFor(refusal)
  // A missing item will not appear by itself.
  const isWorthRetrying = refusal.status !== 404
  const fields = Object.entries(refusal.errors)
  return (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{refusal.title}</strong>
        {refusal.message !== refusal.title && <p>{refusal.message}</p>}
        {fields.length > 0 && (
          <ul>
            {fields.map(([field, messages]) => (
              <li key={field}>
                <code>{field}</code> {messages.join(' ')}
              </li>
            ))}
          </ul>
        )}
        {remedy !== null && <p>{remedy}</p>}
        {refusal.requestId !== '' && (
          <p class="muted small">
            {texts.failure.request} <code>{refusal.requestId}</code>
          </p>
        )}
        {onRetry && isWorthRetrying && (
          <button type="button" class="button small" onClick={onRetry}>
            {texts.failure.retry}
          </button>
        )}
      </div>
    </div>
  )
}
