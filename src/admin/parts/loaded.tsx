import type { ComponentChildren } from 'preact'
import type { Resource } from '../server/use-load.ts'
import { Failure } from './failure.tsx'
import { TableSkeleton } from './table.tsx'

interface LoadedProps<T> {
  of: Resource<T>
  rows?: number
  children: (data: T) => ComponentChildren
}

/** What was answered; until then what it will look like, and instead of it why it is not there. */
export function Loaded<T>({ of, rows = 5, children }: LoadedProps<T>) {
  const { data, failure, reload } = of
  return (
    <>
      {failure && <Failure refusal={failure} onRetry={reload} />}
      {data !== undefined ? children(data) : !failure && <TableSkeleton rows={rows} />}
    </>
  )
}
