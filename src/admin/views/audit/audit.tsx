import { useState } from 'preact/hooks'
import { auditActions } from '../../../audit/actions.ts'
import { ActButton } from '../../parts/buttons.tsx'
import { choice, exact, moment, search, useChosen, type Filter } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { Column } from '../../parts/table.tsx'
import { toVisible } from '../../parts/visible.ts'
import { useServer } from '../../server/server.ts'
import type { AuditEntry } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'

const { audit } = texts

const filters: Filter[] = [
  search(audit.target),
  choice('action', audit.action, [
    { value: '', title: audit.allActions },
    ...auditActions.toSorted().map(action => ({ value: action, title: action })),
  ]),
  exact('target_type', audit.targetType),
  exact('target_id', audit.targetId),
  exact('key', audit.keyId),
  exact('ip', audit.address),
  moment('since', texts.list.since),
  moment('until', texts.list.until),
]

const columns: Column<AuditEntry>[] = [
  { title: audit.action, isName: true, show: ({ action }) => <code class="whole">{action}</code> },
  { title: audit.target, show: ({ target }) => target && <TargetLink target={target} /> },
  {
    title: audit.actor,
    show: ({ actor, ip }) => (
      <>
        {toVisible(actor.name ?? '') ?? audit.actors[actor.kind]}
        {ip !== undefined && <span class="muted small block">{ip}</span>}
      </>
    ),
  },
  { title: audit.at, show: ({ at }) => <Moment at={at} /> },
  { title: audit.changes, show: entry => <Changes of={entry} /> },
]

/** Who changed what. */
export function AuditView() {
  const list = useList<AuditEntry>('/audit', filters)
  return (
    <>
      <Heading title={audit.title} hint={audit.hint} actions={<Export />} />
      <List of={list} label={audit.title} columns={columns} filters={filters} empty={audit.empty} />
    </>
  )
}

/** Saves all entries that the filters let through, a line of JSON each. */
function Export() {
  const server = useServer()
  const chosen = useChosen(filters)
  const [href, setHref] = useState('')
  const save = async () => {
    URL.revokeObjectURL(href)
    const saved = URL.createObjectURL(await server.download('/audit', chosen))
    setHref(saved)
    const link = document.createElement('a')
    link.href = saved
    link.download = 'audit.ndjson'
    link.click()
    return audit.exported
  }
  return <ActButton act={save}>{audit.export}</ActButton>
}

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
function TargetLink({ target: { type, id, name } }: { target: Target }) {
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

/** What was changed, as it was and as it is since. */
function Changes({ of: { before = {}, after = {}, request_id, session_id } }: { of: AuditEntry }) {
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
