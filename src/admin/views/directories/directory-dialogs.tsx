import { ConfirmButton } from '../../parts/buttons.tsx'
import { TextField } from '../../parts/field.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { useServer } from '../../server/server.ts'
import type { DirectoryRef } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { directories } = texts

/** Makes a directory, or gives one another name. */
export function NameDirectory({ of: directory, onDone }: DialogProps & { of?: DirectoryRef }) {
  const server = useServer()
  const save = async (values: Values) => {
    const body = { name: values.text('name') }
    if (directory === undefined) await server.post('/directories', body)
    else await server.patch(`/directories/${directory.id}`, body)
    onDone()
  }
  const title = directory === undefined ? directories.create : directories.rename
  return (
    <FormDialog title={title} submit={texts.save} onSubmit={save}>
      <TextField name="name" label={directories.name} hint={directories.nameHint} value={directory?.name} isRequired />
    </FormDialog>
  )
}

interface DeleteDirectoryProps {
  of: DirectoryRef
  isSmall?: boolean
  onDone: () => void
}

/** Deletes a directory. */
export function DeleteDirectory({ of: { id, name }, isSmall = false, onDone }: DeleteDirectoryProps) {
  const server = useServer()
  const remove = async () => {
    await server.remove(`/directories/${id}`)
    onDone()
    return directories.removedNotice
  }
  return (
    <ConfirmButton
      isSmall={isSmall}
      isDangerous
      title={directories.remove}
      text={directories.removeHint}
      submit={texts.remove}
      typed={{ name, otherwise: String(id) }}
      onConfirm={remove}
    />
  )
}

/** Puts people into a directory. */
export function AddMembers({ id, onDone }: DialogProps & { id: string }) {
  const server = useServer()
  const add = async (values: Values) => {
    await server.put(`/directories/${id}/members`, values.words('members'))
    onDone()
  }
  return (
    <FormDialog title={directories.add} submit={directories.add} onSubmit={add}>
      <TextField name="members" label={directories.members} hint={directories.addHint} isRequired />
    </FormDialog>
  )
}
