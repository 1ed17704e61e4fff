import type { ComponentChildren } from 'preact'
import type { Resource } from '../server/use-resource.ts'
import { Failure } from './failure.tsx'
import { Heading, type HeadingProps } from './heading.tsx'
import { TableSkeleton } from './table.tsx'

interface LoadedProps<T> {
  of: Resource<T>
  rows?: number
  /** The heading of a whole view until its data is loaded, or where that does not exist. */
  heading?: HeadingProps
  children: (data: T) => ComponentChildren
}

/** The loaded content; before that a skeleton, and on failure the reason. */
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
