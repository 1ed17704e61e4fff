import type { AuditEntry } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { audit } = texts

/** What was changed, as it was and as it is since. */
export function Changes({ of: { before = {}, after = {}, request_id, session_id } }: { of: AuditEntry }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  if (names.length === 0 && request_id === undefined) return null
  return (
    <details>
      <summary class="small">{names.length === 0 ? audit.details : names.join(', ')}</summary>
      <dl class="changes">
        {names.map(name => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {name in before && <del>{say(before[name])}</del>} {name in after && <ins>{say(after[name])}</ins>}
            </dd>
          </div>
        ))}
        {request_id !== undefined && (
          <div>
            <dt>{audit.request}</dt>
            <dd>{request_id}</dd>
          </div>
        )}
        {session_id !== undefined && (
          <div>
            <dt>{audit.session}</dt>
            <dd>{session_id}</dd>
          </div>
        )}
      </dl>
    </details>
  )
}

const say = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
