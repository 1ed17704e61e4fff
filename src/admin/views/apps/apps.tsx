import { guids, type Kind } from '../../../resources/apps/kinds.ts'
import { Badge } from '../../parts/badge.tsx'
import { any, choice, exact, search, trash } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, kindOf } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import type { App } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { apps } = texts

const filters = [
  search(),
  choice('type', apps.type, [
    { value: any, title: apps.allTypes },
    ...Object.keys(guids).map(kind => ({ value: kind, title: texts.kinds[kind as Kind] })),
  ]),
  exact('uid', apps.uid),
  exact('directory', apps.directory),
  trash,
]

const columns: Column<App>[] = [
  { title: apps.name, isName: true, show: app => <AppLink app={app} /> },
  { title: apps.type, show: ({ type }) => kindOf(type) },
  { title: apps.uid, show: ({ uid }) => uid && <code>{uid}</code> },
  {
    title: apps.access,
    show: ({ access, is_trashed }) =>
      is_trashed ? <Badge tone="bad">{apps.trashed}</Badge> : <Badge>{texts.access[access]}</Badge>,
  },
  { title: apps.created, show: ({ created_at }) => <Moment at={created_at} /> },
  { title: apps.updated, show: ({ updated_at }) => <Moment at={updated_at} /> },
]

/** Apps: where people share something. */
export function AppsView() {
  const list = useList<App>('/apps', filters, { query: { order_by: 'id desc' } })
  return (
    <>
      <Heading title={apps.title} hint={apps.hint} />
      <List of={list} label={apps.title} columns={columns} filters={filters} empty={apps.empty} />
    </>
  )
}
