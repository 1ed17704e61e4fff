import { AskButton } from '../../parts/buttons.tsx'
import { AreaField, ChoiceField, TextField } from '../../parts/field.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { TrashActions } from '../../parts/trash-actions.tsx'
import { useServer } from '../../server/server.ts'
import type { App } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { apps } = texts

/** What can be done with an app. */
export function AppActions({ of: app, onDone }: { of: App; onDone: () => void }) {
  return (
    <>
      {!app.is_trashed && <AskButton ask={<EditApp of={app} onDone={onDone} />}>{texts.edit}</AskButton>}
      <TrashActions of={app} list="/apps" texts={apps} onDone={onDone} />
    </>
  )
}

function EditApp({ of: app, onDone }: DialogProps & { of: App }) {
  const server = useServer()
  const save = async (values: Values) => {
    const access = values.text('access')
    await server.patch(`/apps/${app.id}`, {
      name: values.textOrNull('name'),
      description: values.textOrNull('description'),
      // Conversations are open to their members alone, and take no other.
      ...(access !== app.access && { access }),
    })
    onDone()
    return apps.savedNotice
  }
  return (
    <FormDialog title={apps.edit} submit={texts.save} onSubmit={save}>
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
