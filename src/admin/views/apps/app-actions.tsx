import { ActButton } from '../../parts/act-button.tsx'
import { AskButton } from '../../parts/ask-button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { nameOf } from '../../parts/names.tsx'
import { useServer } from '../../server/server.ts'
import type { App } from '../../server/shapes.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'

const { apps } = texts

/** What can be done with an app. */
export function AppActions({ of: app, onDone }: { of: App; onDone: () => void }) {
  const server = useServer()
  const desk = useDesk()
  const { go } = usePlace()
  const path = `/apps/${app.id}`
  const typed = { name: nameOf(app), otherwise: app.uid ?? String(app.id) }
  const restore = async () => {
    await server.post(`${path}/restore`)
    onDone()
    return apps.restoredNotice
  }
  const trash = async () => {
    await server.post(`${path}/trash`)
    desk.notify(apps.trashedNotice)
    onDone()
  }
  const remove = async () => {
    await server.remove(path)
    desk.notify(apps.deletedNotice)
    go('/apps')
  }
  return (
    <>
      {!app.is_trashed && (
        <AskButton ask={close => <EditApp of={app} onDone={onDone} close={close} />}>{texts.edit}</AskButton>
      )}
      {app.is_trashed ? (
        <ActButton act={restore}>{texts.restore}</ActButton>
      ) : (
        <AskButton
          ask={close => (
            <Confirm title={apps.trash} text={apps.trashHint} submit={texts.trash} onConfirm={trash} close={close} />
          )}
        >
          {texts.trash}
        </AskButton>
      )}
      <AskButton
        isDangerous
        ask={close => (
          <Confirm
            title={apps.remove}
            text={apps.removeHint}
            submit={texts.remove}
            {...{ typed, close }}
            onConfirm={remove}
          />
        )}
      >
        {texts.remove}
      </AskButton>
    </>
  )
}

interface EditAppProps {
  of: App
  onDone: () => void
  close: () => void
}

function EditApp({ of: app, onDone, close }: EditAppProps) {
  const server = useServer()
  const desk = useDesk()
  const save = async (values: Values) => {
    const access = values.text('access')
    await server.patch(`/apps/${app.id}`, {
      name: values.textOrNull('name'),
      description: values.textOrNull('description'),
      // Conversations are open to their members alone, and take no other.
      ...(access !== app.access && { access }),
    })
    desk.notify(apps.savedNotice)
    onDone()
  }
  return (
    <FormDialog title={apps.edit} submit={texts.save} close={close} onSubmit={save}>
      <TextField name="name" label={apps.name} value={app.name} />
      <AreaField name="description" label={apps.description} rows={2} value={app.description} />
      <ChoiceField
        name="access"
        label={apps.access}
        hint={apps.accessHint}
        value={app.access}
        choices={(['none', 'read', 'write'] as const).map(value => ({ value, title: texts.access[value] }))}
      />
    </FormDialog>
  )
}
