import { Badge } from '../../parts/badge.tsx'
import { AskButton, ConfirmButton } from '../../parts/buttons.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { ChoiceField, TextField } from '../../parts/field.tsx'
import { any, choice, search } from '../../parts/filters.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { fromLocalInput, Moment, toLocalInput } from '../../parts/moment.tsx'
import { nameOf } from '../../parts/names.tsx'
import { SecretDialog } from '../../parts/secret.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useServer } from '../../server/server.ts'
import type { Key, MadeKey } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { keys } = texts

export const keyTabs = [
  { to: '/keys', title: keys.title },
  { to: '/keys/sign-ins', title: texts.signIns.title },
]

const filters = [
  search(),
  choice('revoked', keys.state, [
    { value: 'false', title: keys.valid },
    { value: 'true', title: keys.revoked },
    { value: any, title: keys.all },
  ]),
]

const daySeconds = 86_400

const lifetimes = [
  { value: '', title: keys.never },
  { value: String(30 * daySeconds), title: keys.days(30) },
  { value: String(90 * daySeconds), title: keys.days(90) },
  { value: String(365 * daySeconds), title: keys.days(365) },
]

/** API keys: who may do everything. */
export function KeysView() {
  const list = useList<Key>('/keys', filters, { query: { order_by: 'id desc' } })
  const columns: Column<Key>[] = [
    {
      title: keys.name,
      isName: true,
      show: key => (
        <span class="badges">
          <span>{nameOf(key)}</span>
          {key.is_current && <Badge tone="accent">{keys.current}</Badge>}
        </span>
      ),
    },
    { title: keys.prefix, show: ({ prefix }) => (prefix === undefined ? '–' : <code>{prefix}…</code>) },
    { title: keys.state, show: key => <KeyState of={key} /> },
    { title: keys.created, show: ({ created_at }) => <Moment at={created_at} /> },
    { title: keys.used, show: ({ last_used_at }) => <Moment at={last_used_at} /> },
    {
      title: keys.expires,
      show: ({ expires_at }) => (expires_at === undefined ? keys.never : <Moment at={expires_at} />),
    },
    actions(
      key =>
        key.revoked_at === undefined && (
          <>
            <AskButton isSmall ask={<EditKey of={key} onDone={list.reload} />}>
              {texts.edit}
            </AskButton>
            <RevokeKey of={key} onDone={list.reload} />
          </>
        ),
    ),
  ]
  return (
    <>
      <Heading
        title={keys.title}
        hint={keys.hint}
        actions={
          <AskButton isPrimary icon="plus" ask={<CreateKey onDone={list.reload} />}>
            {keys.create}
          </AskButton>
        }
      />
      <Tabs label={keys.title} tabs={keyTabs} current="/keys" />
      <List of={list} label={keys.title} columns={columns} filters={filters} empty={keys.empty} />
    </>
  )
}

function KeyState({ of: { revoked_at, expires_at } }: { of: Key }) {
  if (revoked_at !== undefined) return <Badge tone="bad">{keys.revoked}</Badge>
  const isOver = expires_at !== undefined && Date.parse(expires_at) <= Date.now()
  return isOver ? <Badge tone="warn">{keys.expired}</Badge> : <Badge tone="good">{keys.valid}</Badge>
}

/** Makes a key, and shows it this once. */
function CreateKey({ onDone }: DialogProps) {
  const server = useServer()
  const desk = useDesk()
  const create = async (values: Values) => {
    const lifetime = values.text('expires_in')
    const body = { name: values.text('name'), ...(lifetime !== '' && { expires_in: Number(lifetime) }) }
    const { key = '' } = await server.post<MadeKey>('/keys', body)
    onDone()
    desk.open(<SecretDialog title={keys.made} text={keys.madeHint} value={key} />)
  }
  return (
    <FormDialog title={keys.create} submit={keys.create} onSubmit={create}>
      <TextField name="name" label={keys.name} hint={keys.nameHint} isRequired />
      <ChoiceField name="expires_in" label={keys.expires} choices={lifetimes} />
    </FormDialog>
  )
}

/** Changes what a key is called, and when it ends. */
function EditKey({ of: key, onDone }: DialogProps & { of: Key }) {
  const server = useServer()
  const save = async (values: Values) => {
    const expires_at = fromLocalInput(values.text('expires_at')) ?? null
    await server.patch(`/keys/${key.id}`, { name: values.text('name'), expires_at })
    onDone()
  }
  return (
    <FormDialog title={keys.edit} submit={texts.save} onSubmit={save}>
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
function RevokeKey({ of: key, onDone }: { of: Key; onDone: () => void }) {
  const server = useServer()
  const revoke = async () => {
    await server.remove(`/keys/${key.id}`, key.is_current ? { force: true } : {})
    onDone()
    return keys.revokedNotice
  }
  return (
    <ConfirmButton
      isSmall
      isDangerous
      title={keys.revoke}
      text={key.is_current ? keys.revokeOwn : keys.revokeHint}
      submit={keys.revoke}
      typed={{ name: key.name, otherwise: key.prefix ?? String(key.id) }}
      onConfirm={revoke}
    />
  )
}
