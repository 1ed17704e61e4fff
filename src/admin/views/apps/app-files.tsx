import { sayBytes } from '../../parts/amount.ts'
import { Badge } from '../../parts/badge.tsx'
import { search, trash } from '../../parts/filters.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf, UserLink } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import type { File } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { ItemActions } from './item-actions.tsx'

const { apps } = texts
const filters = [search(), trash]

/** The files of an app, newest first. They are named here, and neither shown nor loaded. */
export function AppFiles({ id }: { id: string }) {
  const list = useList<File>(`/apps/${id}/files`, filters, { query: { order_by: 'id desc', out: 'details' } })
  const columns: Column<File>[] = [
    {
      title: apps.file,
      isName: true,
      show: file => (
        <span class="badges">
          <span>{nameOf(file)}</span>
          {file.is_trashed && <Badge tone="bad">{apps.trashed}</Badge>}
        </span>
      ),
    },
    { title: apps.mediaType, show: ({ media_type }) => media_type },
    { title: apps.size, isFigure: true, show: ({ size }) => sayBytes(size) },
    { title: apps.author, show: ({ created_by }) => <UserLink user={created_by} /> },
    { title: apps.created, show: ({ created_at }) => <Moment at={created_at} /> },
    actions(({ id, is_trashed }) => (
      <ItemActions path={`/files/${id}`} id={id} isTrashed={is_trashed} onDone={list.reload} />
    )),
  ]
  return <List of={list} label={apps.contents.files} columns={columns} filters={filters} empty={apps.nothing} />
}
