import { ActButton, AskButton } from '../../parts/buttons.tsx'
import { search } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { UserLink } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { Directory, User } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { AddMembers, DeleteDirectory, NameDirectory } from './directory-dialogs.tsx'

const { directories, users } = texts
const back = { to: '/directories', title: directories.title }
const filters = [search()]

/** One directory, and who is in it. */
export function DirectoryView({ id = '' }: { id?: string }) {
  const server = useServer()
  const { go } = usePlace()
  const directory = useResource<Directory>(`/directories/${id}`)
  const members = useList<User>(`/directories/${id}/members`, filters)
  const remove = async (user: number) => {
    await server.remove(`/directories/${id}/members/${user}`)
    members.reload()
    return directories.takenOutNotice
  }
  const columns: Column<User>[] = [
    { title: users.name, isName: true, show: user => <UserLink user={user} /> },
    { title: users.uid, show: ({ uid }) => uid && <code>{uid}</code> },
    { title: users.email, show: ({ email }) => email },
    actions(user => (
      <ActButton isSmall act={() => remove(user.id)}>
        {directories.takeOut}
      </ActButton>
    )),
  ]
  return (
    <Loaded of={directory} heading={{ title: directories.one, back }}>
      {of => (
        <>
          <Heading
            title={of.name}
            back={back}
            actions={
              <>
                <AskButton ask={<NameDirectory of={of} onDone={directory.reload} />}>{directories.rename}</AskButton>
                <DeleteDirectory of={of} onDone={() => go('/directories')} />
              </>
            }
          />
          <List
            of={members}
            label={directories.members}
            columns={columns}
            filters={filters}
            empty={directories.noMembers}
          >
            <AskButton icon="plus" ask={<AddMembers id={id} onDone={members.reload} />}>
              {directories.add}
            </AskButton>
          </List>
        </>
      )}
    </Loaded>
  )
}
