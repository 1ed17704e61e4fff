import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, kindOf } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import type { App } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { apps, users } = texts

const columns: Column<App>[] = [
  { title: apps.name, isName: true, show: app => <AppLink app={app} /> },
  { title: apps.type, show: ({ type }) => kindOf(type) },
  { title: apps.uid, show: ({ uid }) => uid && <code>{uid}</code> },
  { title: apps.updated, show: ({ updated_at, created_at }) => <Moment at={updated_at ?? created_at} /> },
]

/** The apps that a user is a member of. */
export function UserApps({ id }: { id: string }) {
  const list = useList<App>('/apps', [], { query: { member: id } })
  return (
    <section class="stack">
      <h2>{users.apps}</h2>
      <List of={list} label={users.apps} columns={columns} empty={users.noApps} />
    </section>
  )
}
