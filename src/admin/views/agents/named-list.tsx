import type { ComponentChildren } from 'preact'
import { AskButton, ConfirmButton } from '../../parts/buttons.tsx'
import { Card } from '../../parts/card.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Empty, Table, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'

interface EditProps<Row> {
  path: string
  /** Absent: a new one. */
  of?: Row
  close: () => void
  onDone: () => void
}

interface NamedListProps<Row> {
  /** Of the list, in the API. */
  path: string
  columns: Column<Row>[]
  /** Further things to do with a row, whose path it gets. */
  actions?: (path: string) => ComponentChildren
  Edit: (props: EditProps<Row>) => ComponentChildren
  title: string
  add: string
  none: string
  remove: string
  removeHint: string
}

/** Things of an agent that have a name: they are listed, added, edited and removed. */
export function NamedList<Row extends { name: string }>(props: NamedListProps<Row>) {
  const { path, columns, actions, Edit, title, add, none, remove, removeHint } = props
  const server = useServer()
  const list = useResource<Row[]>(path)
  const all: Column<Row>[] = [
    ...columns,
    {
      title: texts.list.actions,
      isActions: true,
      show(of) {
        const { name } = of
        const own = `${path}/${encodeURIComponent(name)}`
        const removeIt = async () => {
          await server.remove(own)
          list.reload()
        }
        return (
          <div class="actions">
            {actions?.(own)}
            <AskButton isSmall ask={close => <Edit {...{ path, of, close }} onDone={list.reload} />}>
              {texts.edit}
            </AskButton>
            <ConfirmButton
              isSmall
              isDangerous
              title={remove}
              text={removeHint}
              submit={texts.remove}
              typed={{ name, otherwise: name }}
              onConfirm={removeIt}
            >
              {texts.remove}
            </ConfirmButton>
          </div>
        )
      },
    },
  ]
  return (
    <Card
      title={title}
      actions={
        <AskButton ask={close => <Edit {...{ path, close }} onDone={list.reload} />}>
          <Icon name="plus" />
          {add}
        </AskButton>
      }
    >
      <Loaded of={list}>
        {rows =>
          rows.length === 0 ? (
            <Empty text={none} />
          ) : (
            <Table label={title} columns={all} rows={rows} keyOf={({ name }) => name} />
          )
        }
      </Loaded>
    </Card>
  )
}
