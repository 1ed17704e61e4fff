import { sayCount } from '../parts/amount.ts'
import { ConfirmButton } from '../parts/buttons.tsx'
import { exact } from '../parts/filters.tsx'
import { Heading } from '../parts/heading.tsx'
import { List, useList } from '../parts/list.tsx'
import { Moment } from '../parts/moment.tsx'
import { UserLink } from '../parts/names.tsx'
import { actions, type Column } from '../parts/table.tsx'
import { useServer } from '../server/server.ts'
import type { Grant } from '../server/shapes.ts'
import { texts } from '../texts.ts'

const { clients } = texts
const filters = [exact('user', clients.user)]

/** Which clients act in whose names, and a way to end that. */
export function ClientsView() {
  const server = useServer()
  const list = useList<Grant>('/admin/grants', filters, { isLive: true })
  const end = async (id: number) => {
    await server.remove(`/admin/grants/${id}`)
    list.reload()
    return clients.ended
  }
  const columns: Column<Grant>[] = [
    { title: clients.client, isName: true, show: ({ client }) => client },
    { title: clients.user, show: ({ user }) => <UserLink user={user} /> },
    { title: clients.address, show: ({ redirect_uri }) => <code>{new URL(redirect_uri).host}</code> },
    { title: clients.since, show: ({ created_at }) => <Moment at={created_at} /> },
    { title: clients.used, show: ({ used_at }) => <Moment at={used_at} /> },
    { title: clients.writes, isFigure: true, show: ({ writes }) => sayCount(writes) },
    actions(({ id }) => (
      <ConfirmButton
        isSmall
        isDangerous
        title={clients.end}
        text={clients.endHint}
        submit={clients.end}
        onConfirm={() => end(id)}
      >
        {clients.endShort}
      </ConfirmButton>
    )),
  ]
  return (
    <>
      <Heading title={clients.title} hint={clients.hint} />
      <List of={list} label={clients.title} columns={columns} filters={filters} empty={clients.empty} />
    </>
  )
}
