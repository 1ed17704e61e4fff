import { Badge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { exact } from '../../parts/filters.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, namesOfNodes, UserLink } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { Node, RealtimeSession, RealtimeSessions } from '../../server/shapes.ts'
import { livePeriodMs } from '../../server/use-load.ts'
import { texts } from '../../texts.ts'

const { realtime } = texts
const filters = [exact('user', realtime.user), exact('app', realtime.app)]

/** Connections of all nodes, newest first: whose they are, what they are subscribed to; and a way to end them. */
export function SessionList({ nodes }: { nodes: Node[] }) {
  const server = useServer()
  const desk = useDesk()
  const list = useList<RealtimeSession, RealtimeSessions>('/admin/sessions', filters, { everyMs: livePeriodMs })
  const silent = list.data?.silent_nodes ?? []
  const nameOfNode = namesOfNodes(nodes)
  const end = async (id: string) => {
    await server.remove(`/admin/sessions/${id}`)
    desk.notify(realtime.ended)
    list.reload()
  }
  const columns: Column<RealtimeSession>[] = [
    {
      title: realtime.user,
      isName: true,
      show: ({ user }) =>
        user === undefined ? <span class="muted">{realtime.nobody}</span> : <UserLink user={user} />,
    },
    { title: realtime.kind, show: ({ kind }) => <Badge>{realtime.kinds[kind]}</Badge> },
    { title: realtime.node, show: ({ node }) => nameOfNode(node) },
    { title: realtime.since, show: ({ since }) => <Moment at={since} /> },
    { title: realtime.address, show: ({ ip }) => <code>{ip}</code> },
    { title: realtime.subscriptions, show: session => <Subscriptions of={session} /> },
    {
      title: texts.list.actions,
      isActions: true,
      show: ({ id }) => (
        <div class="actions">
          <ConfirmButton
            isSmall
            isDangerous
            title={realtime.end}
            text={realtime.endHint}
            submit={realtime.end}
            onConfirm={() => end(id)}
          >
            {realtime.endShort}
          </ConfirmButton>
        </div>
      ),
    },
  ]
  return (
    <section class="stack">
      <h2>{realtime.open}</h2>
      {silent.length > 0 && <p class="muted">{realtime.silent(silent.map(nameOfNode).join(', '))}</p>}
      <List of={list} label={realtime.open} columns={columns} filters={filters} empty={realtime.empty} />
    </section>
  )
}

function Subscriptions({ of: { apps = [], subscriptions } }: { of: RealtimeSession }) {
  return (
    <span class="badges">
      {apps.map(app => (
        <AppLink key={app.id} app={app} />
      ))}
      {subscriptions > apps.length && <Badge>{realtime.more(subscriptions - apps.length)}</Badge>}
    </span>
  )
}
