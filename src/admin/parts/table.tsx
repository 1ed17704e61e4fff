import type { ComponentChildren } from 'preact'
import { texts } from '../texts.ts'

export interface Column<Row> {
  title: string
  show: (row: Row) => ComponentChildren
  /** Figures stand under each other. */
  isFigure?: boolean
  /** What the row is called by: it heads the card that a row becomes where there is no room. */
  isName?: boolean
  /** What can be done with the row: no words above it. */
  isActions?: boolean
}

/** The column of what can be done with a row. */
export function actions<Row>(show: Column<Row>['show']): Column<Row> {
  return { title: texts.list.actions, isActions: true, show }
}

interface TableProps<Row> {
  label: string
  columns: Column<Row>[]
  rows: Row[]
  /** What stands there where there are no rows. */
  empty?: string
  keyOf: (row: Row) => string | number
  /** What is shown belongs to an earlier question. */
  isStale?: boolean
}

/** Rows under titles; where there is no room, a card for each row. */
export function Table<Row>({ label, columns, rows, empty, keyOf, isStale = false }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty text={empty} />
  return (
    <table class={isStale ? 'table stale' : 'table'} aria-label={label} aria-busy={isStale}>
      <thead>
        <tr>
          {columns.map(({ title, isFigure, isActions }) => (
            <th key={title} scope="col" class={isFigure ? 'figure' : ''}>
              {isActions ? <span class="unseen">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(column => (
              <td key={column.title} data-title={column.title} class={classOf(column)}>
                <div class={column.isActions ? 'actions' : undefined}>{column.show(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function classOf<Row>({ isFigure, isName, isActions }: Column<Row>): string {
  if (isName) return 'name'
  if (isActions) return 'row-actions'
  return isFigure ? 'figure' : ''
}

/** What a table looks like before its rows are there. */
export function TableSkeleton({ rows = 5 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={texts.loading}>
      {Array.from({ length: rows }, (_, row) => (
        <div class="skeleton-row" key={row} />
      ))}
    </div>
  )
}

/** Where there is nothing: what it would be, and how to get it. */
export function Empty({ text }: { text: string }) {
  return (
    <div class="empty">
      <p class="muted">{text}</p>
    </div>
  )
}
