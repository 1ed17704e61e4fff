import type { ReactNode } from 'react'
import type { Live } from '../../hooks/live.ts'
import { useTexts } from './texts.tsx'

/** A button that loads further ones, while there are some. */
export function LoadMore({
  of,
  label,
}: {
  of: Pick<Live<unknown>, 'hasMore' | 'isLoadingMore' | 'loadMore'>
  label?: string
}) {
  const texts = useTexts()
  if (!of.hasMore) return null
  return (
    <button type="button" className="pl-load" disabled={of.isLoadingMore} onClick={() => void of.loadMore()}>
      {label ?? texts.loadOlder}
    </button>
  )
}

type Shown = Pick<Live<unknown>, 'status' | 'error' | 'isPrevious'>

/** Says what is in the way of a list, and shows `empty` where there is nothing in it. */
export function ListState({ of, isEmpty, empty }: { of: Shown; isEmpty: boolean; empty: ReactNode }) {
  const texts = useTexts()
  if (of.status === 'ended')
    return (
      <p className="pl-state" role="alert">
        {of.error?.message ?? texts.ended}
      </p>
    )
  if (of.status === 'loading')
    return (
      <p className="pl-state" role="status">
        {of.error === undefined ? texts.loading : `${texts.failed} ${of.error.message}`}
      </p>
    )
  return isEmpty ? <p className="pl-state">{empty}</p> : null
}

/** Says that there is no connection, while that lasts. */
export function StaleNote({ of }: { of: Shown }) {
  const texts = useTexts()
  const isCut = of.status === 'stale' && of.error !== undefined
  return (
    <p className="pl-stale" role="status" hidden={!isCut}>
      {isCut && texts.offline}
    </p>
  )
}
