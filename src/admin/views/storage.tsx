import { sayBytes, sayCount } from '../parts/amount.ts'
import { Card, Figure } from '../parts/card.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Moment } from '../parts/moment.tsx'
import { AppLink, kindOf } from '../parts/names.tsx'
import { Table, type Column } from '../parts/table.tsx'
import type { Storage } from '../server/shapes.ts'
import { useResource } from '../server/use-resource.ts'
import { texts } from '../texts.ts'

type Row = NonNullable<Storage['apps']>[number]

const { storage, apps } = texts

/** What files take up, and where. */
export function StorageView() {
  const resource = useResource<Storage>('/admin/storage')
  return (
    <>
      <Heading
        title={storage.title}
        hint={
          <>
            {storage.hint} <Moment at={resource.data?.counted_at} />
          </>
        }
      />
      <Loaded of={resource}>
        {({ bytes, files, apps: rows = [] }) => (
          <>
            <div class="figures">
              <Figure name={storage.bytes} value={sayBytes(bytes)} />
              <Figure name={storage.files} value={sayCount(files)} />
            </div>
            <Card>
              <Table
                label={storage.title}
                columns={toColumns(rows[0]?.bytes)}
                rows={rows}
                empty={storage.empty}
                keyOf={({ app }) => app.id}
              />
            </Card>
          </>
        )}
      </Loaded>
    </>
  )
}

function toColumns(mostBytes = 0): Column<Row>[] {
  return [
    { title: apps.name, isName: true, show: ({ app }) => <AppLink app={app} /> },
    { title: apps.type, show: ({ app }) => app.type && kindOf(app.type) },
    { title: storage.files, isFigure: true, show: ({ files }) => sayCount(files) },
    { title: storage.bytes, isFigure: true, show: ({ bytes }) => sayBytes(bytes) },
    {
      title: storage.share,
      show: ({ bytes }) => <meter class="meter" max={mostBytes || 1} value={bytes} aria-label={sayBytes(bytes)} />,
    },
  ]
}
