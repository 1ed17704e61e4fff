import { Badge } from '../../parts/badge.tsx'
import { search, trash } from '../../parts/filters.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { UserLink } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import type { Content } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import type { ContentKind } from './contents.ts'
import { ItemActions } from './item-actions.tsx'

const { apps } = texts
const filters = [search(), trash]

/** What was written in an app, newest first. Always as plain text: its HTML is for pages that trust its authors more. */
export function AppContent({ id, kind }: { id: string; kind: ContentKind }) {
  const list = useList<Content>(`/apps/${id}/${kind}`, filters, { query: { order_by: 'id desc', out: 'details' } })
  const columns: Column<Content>[] = [
    {
      title: apps.text,
      isName: true,
      show: item => (
        <div>
          <div class="small muted">
            <UserLink user={item.created_by} /> · <Moment at={item.created_at} /> · #{item.id}
          </div>
          <div class="plain item-text">{item.plain ?? item.text ?? ''}</div>
          <Marks of={item} />
        </div>
      ),
    },
    actions(({ id, is_trashed }) => (
      <ItemActions path={`/${kind}/${id}`} id={id} isTrashed={is_trashed} onDone={list.reload} />
    )),
  ]
  return <List of={list} label={apps.contents[kind]} columns={columns} filters={filters} empty={apps.nothing} />
}

function Marks({ of: { is_trashed, updated_at, attachments, options, reactions } }: { of: Content }) {
  const marks = [
    [attachments.count, apps.attachments] as const,
    [options.count, apps.options] as const,
    [reactions.count, apps.reactions] as const,
  ].filter(([count]) => count > 0)
  return (
    <span class="badges">
      {is_trashed && <Badge tone="bad">{apps.trashed}</Badge>}
      {updated_at !== undefined && <Badge>{apps.edited}</Badge>}
      {marks.map(([count, say]) => (
        <Badge key={say(1)}>{say(count)}</Badge>
      ))}
    </span>
  )
}
