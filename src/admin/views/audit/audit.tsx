import { useState } from 'preact/hooks'
import { auditActions } from '../../../audit/actions.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { choice, exact, moment, search, type Filter } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { Column } from '../../parts/table.tsx'
import { toVisible } from '../../parts/visible.ts'
import { useServer, type Query } from '../../server/server.ts'
import type { AuditEntry } from '../../server/shapes.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { Changes } from './changes.tsx'
import { TargetLink } from './target-link.tsx'

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
  const { query } = usePlace()
  const [href, setHref] = useState('')
  const save = async () => {
    const chosen: Query = {}
    for (const { name, toQuery } of filters) chosen[name] = toQuery(query.get(name) ?? '')
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
