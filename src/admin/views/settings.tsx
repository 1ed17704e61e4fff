import { Badge } from '../parts/badge.tsx'
import { Card } from '../parts/card.tsx'
import { search, Toolbar } from '../parts/filters.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Table, type Column } from '../parts/table.tsx'
import type { Setting } from '../server/shapes.ts'
import { useResource } from '../server/use-resource.ts'
import { usePlace } from '../place.tsx'
import { texts } from '../texts.ts'

const { settings } = texts
const filters = [search()]

const columns: Column<Setting>[] = [
  { title: settings.name, isName: true, show: ({ name }) => <code class="whole">{name}</code> },
  {
    title: settings.value,
    show: ({ value, default: usual, source }) => (
      <>
        {value === undefined ? <span class="muted">{settings.none}</span> : <code>{value}</code>}
        {source !== 'default' && usual && (
          <span class="muted small block">
            {settings.default} <code>{usual}</code>
          </span>
        )}
      </>
    ),
  },
  {
    title: settings.source,
    show: ({ source }) => <Badge tone={source === 'default' ? 'plain' : 'accent'}>{settings.sources[source]}</Badge>,
  },
  { title: settings.meaning, show: ({ description }) => <span class="small">{description}</span> },
]

/** The settings of the node that answers. */
export function SettingsView() {
  const resource = useResource<Setting[]>('/admin/settings')
  const words = (usePlace().query.get('q') ?? '').toLowerCase()
  const isFound = ({ name, description }: Setting) => `${name} ${description}`.toLowerCase().includes(words)
  return (
    <>
      <Heading title={settings.title} hint={settings.hint} />
      <Card>
        <Toolbar filters={filters} />
        <Loaded of={resource} rows={12}>
          {list => (
            <Table
              label={settings.title}
              columns={columns}
              rows={list.filter(isFound)}
              empty={texts.list.noMatch}
              keyOf={({ name }) => name}
            />
          )}
        </Loaded>
      </Card>
    </>
  )
}
