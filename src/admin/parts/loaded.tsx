import type { ComponentChildren } from 'preact'
import type { Resource } from '../server/use-load.ts'
import { Failure } from './failure.tsx'
import { Heading, type HeadingProps } from './heading.tsx'
import { TableSkeleton } from './table.tsx'

interface LoadedProps<T> {
  of: Resource<T>
  rows?: number
  /** Of a whole view: its heading as long as nothing is known of what it is about, or where that is not there. */
  heading?: HeadingProps
  children: (data: T) => ComponentChildren
}

/** What was answered; until then what it will look like, and instead of it why it is not there. */
export function Loaded<T>({ of, rows = 5, heading, children }: LoadedProps<T>) {
  const { data, failure, reload } = of
  return (
    <>
      {data === undefined && heading && <Heading {...heading} />}
      {failure && <Failure refusal={failure} onRetry={reload} />}
      {data !== undefined ? children(data) : !failure && <TableSkeleton rows={rows} />}
    </>
  )
}
