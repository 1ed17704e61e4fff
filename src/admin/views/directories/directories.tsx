import { AskButton } from '../../parts/buttons.tsx'
import { search } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { nameOf } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import type { DirectoryRef } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { DeleteDirectory, NameDirectory } from './directory-dialogs.tsx'

const { directories } = texts
const filters = [search()]

/** Directories: groups of people who may see each other. */
export function DirectoriesView() {
  const list = useList<DirectoryRef>('/directories', filters)
  const columns: Column<DirectoryRef>[] = [
    { title: directories.name, isName: true, show: one => <Link to={`/directories/${one.id}`}>{nameOf(one)}</Link> },
    actions(directory => (
      <>
        <AskButton isSmall ask={<NameDirectory of={directory} onDone={list.reload} />}>
          {directories.rename}
        </AskButton>
        <DeleteDirectory of={directory} isSmall onDone={list.reload} />
      </>
    )),
  ]
  return (
    <>
      <Heading
        title={directories.title}
        hint={directories.hint}
        actions={
          <AskButton isPrimary icon="plus" ask={<NameDirectory onDone={list.reload} />}>
            {directories.create}
          </AskButton>
        }
      />
      <List of={list} label={directories.title} columns={columns} filters={filters} empty={directories.empty} />
    </>
  )
}
