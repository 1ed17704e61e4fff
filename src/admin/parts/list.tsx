import type { ComponentChildren } from 'preact'
import type { Query } from '../server/server.ts'
import type { Resource } from '../server/use-load.ts'
import { useResource } from '../server/use-resource.ts'
import type { Paged } from '../server/wire.ts'
import { texts } from '../texts.ts'
import { Card } from './card.tsx'
import { Filters, type Filter } from './filters.tsx'
import { Loaded } from './loaded.tsx'
import { Pager, pageSize } from './pager.tsx'
import { usePlace } from '../place.tsx'
import { Empty, Table, type Column } from './table.tsx'

export interface ListProps<Row extends { id: number | string }> {
  /** What is listed, for readers of screens. */
  label: string
  columns: Column<Row>[]
  filters?: Filter[]
  /** What stands there where there is nothing, and no filter either. */
  empty: string
  children?: ComponentChildren
}

/** The page of a list that the address asks for: filters are parameters of the API under their own names. */
export function useList<Row, Page extends Paged<Row> = Paged<Row>>(
  path: string | null,
  filters: Filter[] = [],
  { query = {}, everyMs }: { query?: Query; everyMs?: number } = {},
): Resource<Page> {
  const place = usePlace()
  const chosen: Query = {}
  for (const filter of filters) chosen[filter.name] = filter.toQuery(place.query.get(filter.name) ?? '')
  const skip = Number(place.query.get('skip')) || 0
  return useResource<Page>(path, {
    query: { ...query, ...chosen, skip, take: pageSize },
    ...(everyMs !== undefined && { everyMs }),
  })
}

/** A list of the API: filters, a page of rows, and the way to the other pages. */
export function List<Row extends { id: number | string }>({
  of,
  label,
  columns,
  filters = [],
  empty,
  children,
}: ListProps<Row> & { of: Resource<Paged<Row>> }) {
  const { query } = usePlace()
  const isFiltered = filters.some(({ name }) => query.has(name))
  return (
    <Card>
      {(filters.length > 0 || children) && (
        <div class="toolbar">
          <Filters filters={filters} />
          {children}
        </div>
      )}
      <Loaded of={of}>
        {({ data = [], count }) => (
          <>
            {data.length === 0 ? (
              <Empty text={isFiltered ? texts.list.noMatch : empty} />
            ) : (
              <Table label={label} columns={columns} rows={data} keyOf={({ id }) => id} isStale={of.isLoading} />
            )}
            <Pager count={count} shown={data.length} />
          </>
        )}
      </Loaded>
    </Card>
  )
}
