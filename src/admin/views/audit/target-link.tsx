import { toVisible } from '../../parts/visible.ts'
import { Link } from '../../place.tsx'
import type { AuditEntry } from '../../server/shapes.ts'

type Target = NonNullable<AuditEntry['target']>

/** Where each type of target is shown. */
const places: Record<string, string> = {
  user: '/users',
  agent: '/agents',
  app: '/apps',
  directory: '/directories',
  webhook: '/webhooks',
}

/** What was acted on, with the way there where it has a view. */
export function TargetLink({ target: { type, id, name } }: { target: Target }) {
  const whole = id === undefined ? type : `${type} #${id}`
  const called = toVisible(name ?? '') ?? whole
  const place = places[type]
  return (
    <>
      {place !== undefined && id !== undefined ? <Link to={`${place}/${id}`}>{called}</Link> : called}
      {name !== undefined && <span class="muted small block">{whole}</span>}
    </>
  )
}
