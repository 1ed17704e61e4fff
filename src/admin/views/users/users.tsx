import { AskButton } from '../../parts/buttons.tsx'
import { Badge, Badges } from '../../parts/badge.tsx'
import { any, choice, exact, search, trash } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { UserLink } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import type { User } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { EditUser } from './user-dialogs.tsx'

const { users } = texts

const filters = [
  search(),
  choice('agent', users.kind, [
    { value: 'false', title: users.people },
    { value: 'true', title: texts.agents.title },
    { value: any, title: users.everyone },
  ]),
  exact('directory', users.directory),
  trash,
]

const columns: Column<User>[] = [
  { title: users.name, isName: true, show: user => <UserLink user={user} /> },
  { title: users.uid, show: ({ uid }) => uid && <code>{uid}</code> },
  { title: users.email, show: ({ email }) => email },
  {
    title: users.directories,
    show: ({ directories = [] }) => <Badges of={directories.map(({ name }) => name)} />,
  },
  {
    title: users.state,
    show: ({ is_trashed, presence }) =>
      is_trashed ? (
        <Badge tone="bad">{users.trashed}</Badge>
      ) : (
        presence === 'active' && <Badge tone="good">{users.here}</Badge>
      ),
  },
  { title: users.created, show: ({ created_at }) => <Moment at={created_at} /> },
]

/** People, and agents where they are asked for. */
export function UsersView() {
  const list = useList<User>('/users', filters, { query: { order_by: 'id desc' } })
  return (
    <>
      <Heading
        title={users.title}
        hint={users.hint}
        actions={
          <AskButton isPrimary icon="plus" ask={<EditUser onDone={list.reload} />}>
            {users.create}
          </AskButton>
        }
      />
      <List of={list} label={users.title} columns={columns} filters={filters} empty={users.empty} />
    </>
  )
}
