import { Badge } from '../../parts/badge.tsx'
import { AskButton, ConfirmButton } from '../../parts/buttons.tsx'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, kindOf, nameOf } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import { TrashActions } from '../../parts/trash-actions.tsx'
import { useServer } from '../../server/server.ts'
import type { App, User } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { EditUser } from './user-dialogs.tsx'

const { apps, users } = texts
const back = { to: '/users', title: users.title }

/** One user: what is known, what can be done, and where they take part. */
export function UserView({ id = '' }: { id?: string }) {
  const user = useResource<User>(`/users/${id}`, { query: { trashed: 'null' } })
  return (
    <Loaded of={user} heading={{ title: users.one, back }}>
      {of => (
        <>
          <Heading title={nameOf(of)} back={back} actions={<UserActions of={of} onDone={user.reload} />} />
          <Card>
            <Facts
              facts={[
                [users.id, of.id],
                [users.uid, of.uid && <code>{of.uid}</code>],
                [
                  users.state,
                  of.is_trashed ? <Badge tone="bad">{users.trashed}</Badge> : <Badge tone="good">{users.active}</Badge>,
                ],
                [users.email, of.email],
                [users.phone, of.phone_number],
                [users.username, of.username],
                [users.directories, (of.directories ?? []).map(({ name }) => name).join(', ')],
                [users.tags, (of.tags ?? []).join(', ')],
                [users.comment, of.comment],
                [users.created, <Moment at={of.created_at} />],
                [users.updated, <Moment at={of.updated_at} />],
              ]}
            />
          </Card>
          <UserApps id={id} />
        </>
      )}
    </Loaded>
  )
}

/** What can be done with a user. */
function UserActions({ of: user, onDone }: { of: User; onDone: () => void }) {
  const server = useServer()
  const revoke = async () => {
    await server.remove(`/users/${user.id}/tokens`)
    onDone()
    return users.tokensNotice
  }
  return (
    <>
      <AskButton ask={<EditUser of={user} onDone={onDone} />}>{texts.edit}</AskButton>
      <ConfirmButton
        title={users.revokeTokens}
        text={users.revokeHint}
        submit={users.revokeTokens}
        onConfirm={revoke}
      />
      <TrashActions of={user} list="/users" texts={users} onDone={onDone} />
    </>
  )
}

const columns: Column<App>[] = [
  { title: apps.name, isName: true, show: app => <AppLink app={app} /> },
  { title: apps.type, show: ({ type }) => kindOf(type) },
  { title: apps.uid, show: ({ uid }) => uid && <code>{uid}</code> },
  { title: apps.updated, show: ({ updated_at, created_at }) => <Moment at={updated_at ?? created_at} /> },
]

/** The apps that a user is a member of. */
function UserApps({ id }: { id: string }) {
  const list = useList<App>('/apps', [], { query: { member: id } })
  return (
    <section class="stack">
      <h2>{users.apps}</h2>
      <List of={list} label={users.apps} columns={columns} empty={users.noApps} />
    </section>
  )
}
