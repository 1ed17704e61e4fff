import { Confirm } from '../../parts/confirm.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { ChoiceField, TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { fromLocalInput, toLocalInput } from '../../parts/moment.tsx'
import { SecretDialog } from '../../parts/secret.tsx'
import { useServer } from '../../server/server.ts'
import type { Key, MadeKey } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { keys } = texts

interface DialogProps {
  /** Called when something was changed. */
  onDone: () => void
  close: () => void
}

const daySeconds = 86_400

const lifetimes = [
  { value: '', title: keys.never },
  { value: String(30 * daySeconds), title: keys.days(30) },
  { value: String(90 * daySeconds), title: keys.days(90) },
  { value: String(365 * daySeconds), title: keys.days(365) },
]

/** Makes a key, and shows it this once. */
export function CreateKey({ onDone, close }: DialogProps) {
  const server = useServer()
  const desk = useDesk()
  const create = async (values: Values) => {
    const lifetime = values.text('expires_in')
    const body = { name: values.text('name'), ...(lifetime !== '' && { expires_in: Number(lifetime) }) }
    const { key = '' } = await server.post<MadeKey>('/keys', body)
    onDone()
    desk.open(shut => <SecretDialog title={keys.made} text={keys.madeHint} value={key} close={shut} />)
  }
  return (
    <FormDialog title={keys.create} submit={keys.create} close={close} onSubmit={create}>
      <TextField name="name" label={keys.name} hint={keys.nameHint} isRequired />
      <ChoiceField name="expires_in" label={keys.expires} choices={lifetimes} />
    </FormDialog>
  )
}

/** Changes what a key is called, and when it ends. */
export function EditKey({ of: key, onDone, close }: DialogProps & { of: Key }) {
  const server = useServer()
  const save = async (values: Values) => {
    const expires_at = fromLocalInput(values.text('expires_at')) ?? null
    await server.patch(`/keys/${key.id}`, { name: values.text('name'), expires_at })
    onDone()
  }
  return (
    <FormDialog title={keys.edit} submit={texts.save} close={close} onSubmit={save}>
      <TextField name="name" label={keys.name} value={key.name} isRequired />
      <TextField
        name="expires_at"
        label={keys.expires}
        type="datetime-local"
        value={toLocalInput(key.expires_at)}
        hint={keys.expiresHint}
      />
    </FormDialog>
  )
}

/** Revokes a key; where it is that of this session, that ends too. */
export function RevokeKey({ of: key, onDone, close }: DialogProps & { of: Key }) {
  const server = useServer()
  const desk = useDesk()
  return (
    <Confirm
      title={keys.revoke}
      text={key.is_current ? keys.revokeOwn : keys.revokeHint}
      submit={keys.revoke}
      typed={{ name: key.name, otherwise: key.prefix ?? String(key.id) }}
      close={close}
      onConfirm={async () => {
        await server.remove(`/keys/${key.id}`, key.is_current ? { force: true } : {})
        desk.notify(keys.revokedNotice)
        onDone()
      }}
    />
  )
}
