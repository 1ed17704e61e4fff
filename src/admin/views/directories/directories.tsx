import { AskButton } from '../../parts/ask-button.tsx'
import { search } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Icon } from '../../parts/icon.tsx'
import { List, useList } from '../../parts/list.tsx'
import { nameOf } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
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
    {
      title: texts.list.actions,
      isActions: true,
      show: directory => (
        <div class="actions">
          <AskButton isSmall ask={close => <NameDirectory of={directory} onDone={list.reload} close={close} />}>
            {directories.rename}
          </AskButton>
          <AskButton
            isSmall
            isDangerous
            ask={close => <DeleteDirectory of={directory} onDone={list.reload} close={close} />}
          >
            {texts.remove}
          </AskButton>
        </div>
      ),
    },
  ]
  return (
    <>
      <Heading
        title={directories.title}
        hint={directories.hint}
        actions={
          <AskButton isPrimary ask={close => <NameDirectory onDone={list.reload} close={close} />}>
            <Icon name="plus" />
            {directories.create}
          </AskButton>
        }
      />
      <List of={list} label={directories.title} columns={columns} filters={filters} empty={directories.empty} />
    </>
  )
}
