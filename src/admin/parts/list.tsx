import type { ComponentChildren } from 'preact'
import type { Query } from '../server/server.ts'
import { useResource, type Resource } from '../server/use-resource.ts'
import type { Paged } from '../server/wire.ts'
import { texts } from '../texts.ts'
import { Card } from './card.tsx'
import { Toolbar, useChosen, type Filter } from './filters.tsx'
import { Loaded } from './loaded.tsx'
import { Pager, pageSize } from './pager.tsx'
import { usePlace } from '../place.tsx'
import { Table, type Column } from './table.tsx'

interface ListProps<Row> {
  of: Resource<Paged<Row>>
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
  path: string,
  filters: Filter[] = [],
  { query, isLive = false }: { query?: Query; isLive?: boolean } = {},
): Resource<Page> {
  const place = usePlace()
  const skip = Number(place.query.get('skip')) || 0
  return useResource<Page>(path, { query: { ...query, ...useChosen(filters), skip, take: pageSize }, isLive })
}

/** A list of the API: filters, a page of rows, and the way to the other pages. */
export function List<Row extends { id: number | string }>(props: ListProps<Row>) {
  const { of, label, columns, filters = [], empty, children } = props
  const { query } = usePlace()
  const isFiltered = filters.some(({ name }) => query.has(name))
  return (
    <Card>
      {(filters.length > 0 || children) && <Toolbar filters={filters}>{children}</Toolbar>}
      <Loaded of={of}>
        {({ data = [], count }) => (
          <>
            <Table
              label={label}
              columns={columns}
              rows={data}
              empty={isFiltered ? texts.list.noMatch : empty}
              keyOf={({ id }) => id}
              isStale={of.isLoading}
            />
            <Pager count={count} shown={data.length} />
          </>
        )}
      </Loaded>
    </Card>
  )
}
