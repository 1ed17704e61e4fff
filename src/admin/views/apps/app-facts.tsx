import { sayCount } from '../../parts/amount.ts'
import { Card, Figure } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Moment } from '../../parts/moment.tsx'
import { kindName } from '../../parts/names.tsx'
import type { App, Directory } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { contentsOf } from './contents.ts'

const { apps } = texts

/** What is known of an app, and how much there is in it. */
export function AppFacts({ of: app }: { of: App }) {
  return (
    <>
      <div class="figures">
        <Count name={apps.members} path={`/apps/${app.id}/members`} />
        {contentsOf(kindName(app.type)).map(content => (
          <Count key={content} name={apps.contents[content]} path={`/apps/${app.id}/${content}`} />
        ))}
      </div>
      <Card>
        <Facts
          facts={[
            [apps.id, app.id],
            [apps.uid, app.uid && <code>{app.uid}</code>],
            [apps.access, texts.access[app.access]],
            [apps.directory, app.directory_id !== undefined && <DirectoryLink id={app.directory_id} />],
            [apps.description, app.description],
            [apps.tags, (app.tags ?? []).join(', ')],
            [apps.rev, sayCount(app.rev)],
            [apps.created, <Moment at={app.created_at} />],
            [apps.updated, <Moment at={app.updated_at} />],
          ]}
        />
      </Card>
    </>
  )
}

function DirectoryLink({ id }: { id: number }) {
  const { data } = useResource<Directory>(`/directories/${id}`)
  return <Link to={`/directories/${id}`}>{data?.name ?? `#${id}`}</Link>
}

function Count({ name, path }: { name: string; path: string }) {
  const { data } = useResource<{ count: number }>(path, { query: { count_only: true, trashed: 'null' } })
  return <Figure name={name} value={data && sayCount(data.count)} />
}
