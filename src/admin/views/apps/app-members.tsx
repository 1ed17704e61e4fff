import { ActButton, AskButton } from '../../parts/buttons.tsx'
import { Badge } from '../../parts/badge.tsx'
import { ChoiceField, TextField } from '../../parts/field.tsx'
import { search } from '../../parts/filters.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf, UserLink } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { Member } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { apps } = texts
const filters = [search()]
const levels = (['read', 'write', 'admin', 'none'] as const).map(value => ({ value, title: texts.access[value] }))

/** Who is a member of an app, and what they may do there. */
export function AppMembers({ id }: { id: string }) {
  const server = useServer()
  const list = useList<Member>(`/apps/${id}/members`, filters)
  const remove = async (user: number) => {
    await server.remove(`/apps/${id}/members/${user}`)
    list.reload()
    return apps.memberRemovedNotice
  }
  const columns: Column<Member>[] = [
    { title: apps.member, isName: true, show: member => <UserLink user={member} /> },
    { title: apps.uid, show: ({ uid }) => uid && <code>{uid}</code> },
    { title: apps.memberAccess, show: ({ access }) => <Badge>{texts.access[access]}</Badge> },
    { title: apps.read, show: ({ marked_at }) => <Moment at={marked_at} /> },
    actions(member => (
      <>
        <AskButton isSmall ask={<SetAccess id={id} member={member} onDone={list.reload} />}>
          {apps.changeAccess}
        </AskButton>
        <ActButton isSmall act={() => remove(member.id)}>
          {apps.removeMember}
        </ActButton>
      </>
    )),
  ]
  return (
    <List of={list} label={apps.members} columns={columns} filters={filters} empty={apps.noMembers}>
      <AskButton icon="plus" ask={<SetAccess id={id} onDone={list.reload} />}>
        {apps.addMember}
      </AskButton>
    </List>
  )
}

/** Lets somebody into an app, or changes what they may do there. */
function SetAccess({ id, member, onDone }: DialogProps & { id: string; member?: Member }) {
  const server = useServer()
  const save = async (values: Values) => {
    const user = member === undefined ? values.text('user').trim() : String(member.id)
    await server.put(`/apps/${id}/members/${encodeURIComponent(user)}`, { access: values.text('access') })
    onDone()
    return apps.accessNotice
  }
  const title = member === undefined ? apps.addMember : nameOf(member)
  return (
    <FormDialog title={title} submit={texts.save} onSubmit={save}>
      {member === undefined && <TextField name="user" label={apps.member} hint={apps.memberHint} isRequired />}
      <ChoiceField name="access" label={apps.memberAccess} choices={levels} value={member?.access ?? 'write'} />
    </FormDialog>
  )
}
