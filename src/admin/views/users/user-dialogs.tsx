import { useDesk } from '../../parts/desk.tsx'
import { AreaField, TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { User } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { users } = texts

interface DialogProps {
  /** Called when something was changed. */
  onDone: () => void
  close: () => void
}

/** Makes a user. */
export function CreateUser({ onDone, close }: DialogProps) {
  const server = useServer()
  const desk = useDesk()
  const create = async (values: Values) => {
    await server.post('/users', toBody(values))
    desk.notify(users.createdNotice)
    onDone()
  }
  return (
    <FormDialog title={users.create} submit={users.create} close={close} onSubmit={create}>
      <Fields isNew />
    </FormDialog>
  )
}

/** Changes what is known of a user. */
export function EditUser({ of: user, onDone, close }: DialogProps & { of: User }) {
  const server = useServer()
  const desk = useDesk()
  const save = async (values: Values) => {
    await server.patch(`/users/${user.id}`, toBody(values))
    desk.notify(users.savedNotice)
    onDone()
  }
  return (
    <FormDialog title={users.edit} submit={texts.save} close={close} onSubmit={save}>
      <Fields of={user} />
    </FormDialog>
  )
}

function Fields({ of: user, isNew = false }: { of?: User; isNew?: boolean }) {
  const directories = (user?.directories ?? []).map(({ name }) => name).join(', ')
  return (
    <>
      <TextField name="uid" label={users.uid} hint={users.uidHint} value={user?.uid} isRequired={isNew} />
      <TextField name="name" label={users.name} value={user?.name} />
      <TextField name="email" label={users.email} type="email" value={user?.email} />
      <TextField name="phone_number" label={users.phone} value={user?.phone_number} />
      <TextField name="directories" label={users.directories} hint={users.directoriesHint} value={directories} />
      <TextField name="tags" label={users.tags} hint={users.tagsHint} value={(user?.tags ?? []).join(', ')} />
      <AreaField name="comment" label={users.comment} rows={2} value={user?.comment} />
    </>
  )
}

function toBody(values: Values) {
  const tags = values.text('tags').split(',')
  return {
    uid: values.textOrNull('uid'),
    name: values.textOrNull('name'),
    email: values.textOrNull('email'),
    phone_number: values.textOrNull('phone_number'),
    directories: values.words('directories'),
    tags: tags.map(tag => tag.trim()).filter(tag => tag !== ''),
    comment: values.textOrNull('comment'),
  }
}
