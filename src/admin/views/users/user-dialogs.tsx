import { AreaField, TextField } from '../../parts/field.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { User } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { users } = texts

/** Makes a user, or changes what is known of one. */
export function EditUser({ of: user, onDone }: DialogProps & { of?: User }) {
  const server = useServer()
  const isNew = user === undefined
  const save = async (values: Values) => {
    if (isNew) await server.post('/users', toBody(values))
    else await server.patch(`/users/${user.id}`, toBody(values))
    onDone()
    return isNew ? users.createdNotice : users.savedNotice
  }
  const directories = (user?.directories ?? []).map(({ name }) => name).join(', ')
  return (
    <FormDialog title={isNew ? users.create : users.edit} submit={isNew ? users.create : texts.save} onSubmit={save}>
      <TextField name="uid" label={users.uid} hint={users.uidHint} value={user?.uid} isRequired={isNew} />
      <TextField name="name" label={users.name} value={user?.name} />
      <TextField name="email" label={users.email} type="email" value={user?.email} />
      <TextField name="phone_number" label={users.phone} value={user?.phone_number} />
      <TextField name="directories" label={users.directories} hint={users.directoriesHint} value={directories} />
      <TextField name="tags" label={users.tags} hint={users.tagsHint} value={(user?.tags ?? []).join(', ')} />
      <AreaField name="comment" label={users.comment} rows={2} value={user?.comment} />
    </FormDialog>
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
