import { Badge } from '../../parts/badge.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { kindName, kindOf, nameOf } from '../../parts/names.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import type { App } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { AppActions } from './app-actions.tsx'
import { AppFacts } from './app-facts.tsx'
import { AppFiles } from './app-files.tsx'
import { contentsOf, type ContentKind } from './contents.ts'
import { AppContent } from './app-content.tsx'
import { AppMembers } from './app-members.tsx'

const { apps } = texts
const back = { to: '/apps', title: apps.title }

/** One app: what it is, who is in it, and what was written there. */
export function AppView({ id = '', part = '' }: { id?: string; part?: string }) {
  const app = useResource<App>(`/apps/${id}`, { query: { trashed: true } })
  return (
    <Loaded of={app} heading={{ title: apps.one, back }}>
      {of => {
        const parts = contentsOf(kindName(of.type))
        const tabs = [
          { to: `/apps/${id}`, title: apps.overview },
          { to: `/apps/${id}/members`, title: apps.members },
          ...parts.map(content => ({ to: `/apps/${id}/${content}`, title: apps.contents[content] })),
        ]
        return (
          <>
            <Heading
              title={nameOf(of)}
              back={back}
              hint={
                <span class="badges">
                  <Badge>{kindOf(of.type)}</Badge>
                  {of.is_trashed && <Badge tone="bad">{apps.trashed}</Badge>}
                </span>
              }
              actions={<AppActions of={of} onDone={app.reload} />}
            />
            <Tabs label={apps.parts} tabs={tabs} current={part === '' ? `/apps/${id}` : `/apps/${id}/${part}`} />
            <Part id={id} part={part} app={of} />
          </>
        )
      }}
    </Loaded>
  )
}

function Part({ id, part, app }: { id: string; part: string; app: App }) {
  if (part === '') return <AppFacts of={app} />
  if (part === 'members') return <AppMembers id={id} />
  if (part === 'files') return <AppFiles id={id} />
  return <AppContent key={part} id={id} kind={part as ContentKind} />
}
