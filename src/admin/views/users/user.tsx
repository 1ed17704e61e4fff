import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf } from '../../parts/names.tsx'
import { useResource } from '../../server/use-resource.ts'
import type { User } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { UserActions } from './user-actions.tsx'
import { UserApps } from './user-apps.tsx'

const { users } = texts
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
