import { AskButton } from '../../parts/ask-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { any, choice, search } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Icon } from '../../parts/icon.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import type { Key } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { CreateKey, EditKey, RevokeKey } from './key-dialogs.tsx'

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
    {
      title: texts.list.actions,
      isActions: true,
      show: key =>
        key.revoked_at === undefined && (
          <div class="actions">
            <AskButton isSmall ask={close => <EditKey of={key} onDone={list.reload} close={close} />}>
              {texts.edit}
            </AskButton>
            <AskButton isSmall isDangerous ask={close => <RevokeKey of={key} onDone={list.reload} close={close} />}>
              {keys.revoke}
            </AskButton>
          </div>
        ),
    },
  ]
  return (
    <>
      <Heading
        title={keys.title}
        hint={keys.hint}
        actions={
          <AskButton isPrimary ask={close => <CreateKey onDone={list.reload} close={close} />}>
            <Icon name="plus" />
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
