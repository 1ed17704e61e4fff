import { ActButton } from '../../parts/buttons.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useServer } from '../../server/server.ts'
import type { SignIn } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { keyTabs } from './keys.tsx'

const { signIns } = texts

/** Sessions of this page: who is signed in, with which key, from where. */
export function SignInsView() {
  const server = useServer()
  const list = useList<SignIn>('/admin/sign-ins')
  const end = async (id: number) => {
    await server.remove(`/admin/sign-ins/${id}`)
    list.reload()
    return signIns.ended
  }
  const columns: Column<SignIn>[] = [
    {
      title: signIns.key,
      isName: true,
      show: ({ key, is_current }) => (
        <span class="badges">
          <span>{nameOf(key)}</span>
          {is_current && <Badge tone="accent">{signIns.current}</Badge>}
        </span>
      ),
    },
    { title: signIns.address, show: ({ ip = '–' }) => <code>{ip}</code> },
    { title: signIns.browser, show: ({ agent }) => <span class="small">{agent}</span> },
    { title: signIns.begun, show: ({ created_at }) => <Moment at={created_at} /> },
    { title: signIns.used, show: ({ used_at }) => <Moment at={used_at} /> },
    { title: signIns.expires, show: ({ expires_at }) => <Moment at={expires_at} /> },
    actions(
      ({ id, is_current }) =>
        !is_current && (
          <ActButton isSmall act={() => end(id)}>
            {signIns.end}
          </ActButton>
        ),
    ),
  ]
  return (
    <>
      <Heading title={texts.keys.title} hint={signIns.hint} />
      <Tabs label={texts.keys.title} tabs={keyTabs} current="/keys/sign-ins" />
      <List of={list} label={signIns.title} columns={columns} empty={signIns.empty} />
    </>
  )
}
