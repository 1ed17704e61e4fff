import type { ComponentChildren } from 'preact'
import { AskButton, ConfirmButton } from '../../parts/buttons.tsx'
import { Card } from '../../parts/card.tsx'
import { AreaField, TextField } from '../../parts/field.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { actions, Table, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'

const { agents } = texts

interface Named {
  name: string
  headers?: Record<string, string> | undefined
}

interface NamedListProps<Row> {
  /** Of the list, in the API. */
  path: string
  columns: Column<Row>[]
  /** Further things to do with a row, whose path it gets. */
  more?: (path: string) => ComponentChildren
  /** What is edited beside the name and the headers. */
  Fields: (props: { of: Row | undefined }) => ComponentChildren
  toBody: (values: Values) => object
  texts: { title: string; name: string; add: string; edit: string; none: string; remove: string; removeHint: string }
}

/** Things of an agent that have a name: they are listed, added, edited and removed. */
export function NamedList<Row extends Named>(props: NamedListProps<Row>) {
  const { path, columns, more, texts: own } = props
  const server = useServer()
  const list = useResource<Row[]>(path)
  const all = [
    ...columns,
    actions<Row>(of => {
      const itsPath = `${path}/${encodeURIComponent(of.name)}`
      const remove = async () => {
        await server.remove(itsPath)
        list.reload()
      }
      return (
        <>
          {more?.(itsPath)}
          <AskButton isSmall ask={<Edit props={props} of={of} onDone={list.reload} />}>
            {texts.edit}
          </AskButton>
          <ConfirmButton
            isSmall
            isDangerous
            title={own.remove}
            text={own.removeHint}
            submit={texts.remove}
            typed={{ name: of.name, otherwise: of.name }}
            onConfirm={remove}
          />
        </>
      )
    }),
  ]
  return (
    <Card
      title={own.title}
      actions={
        <AskButton icon="plus" ask={<Edit props={props} onDone={list.reload} />}>
          {own.add}
        </AskButton>
      }
    >
      <Loaded of={list}>
        {rows => <Table label={own.title} columns={all} rows={rows} empty={own.none} keyOf={({ name }) => name} />}
      </Loaded>
    </Card>
  )
}

/** Adds one, or changes it. Headers are written and never read: they hold credentials. */
function Edit<Row extends Named>({
  props: { path, Fields, toBody, texts: own },
  of,
  onDone,
}: DialogProps & { props: NamedListProps<Row>; of?: Row }) {
  const server = useServer()
  const save = async (values: Values) => {
    const headers = values.json('headers')
    const body = { name: values.text('name'), ...toBody(values), ...(headers !== undefined && { headers }) }
    if (of === undefined) await server.post(path, body)
    else await server.patch(`${path}/${encodeURIComponent(of.name)}`, body)
    onDone()
  }
  return (
    <FormDialog title={of === undefined ? own.add : own.edit} submit={texts.save} onSubmit={save}>
      <TextField name="name" label={own.name} value={of?.name} isRequired />
      <Fields of={of} />
      <AreaField
        name="headers"
        label={agents.headers}
        hint={of?.headers === undefined ? agents.headersHint : agents.headersSet(Object.keys(of.headers).join(', '))}
        rows={3}
        isCode
      />
    </FormDialog>
  )
}
