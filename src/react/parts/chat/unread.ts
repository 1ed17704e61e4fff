import { useEffect, useState } from 'react'
import type { Message } from '@parley/client'
import { useUnread } from '../../hooks/personal.ts'
import type { AppRef } from '../../hooks/items.ts'

/**
 * Keeps a chat read while it is looked at, and remembers the first message that was not read when it was opened. Returns
 * its key.
 */
export function useReading(app: AppRef, rows: readonly Message[], isAtEnd: boolean, me: number | undefined) {
  const { data, status, isPrevious, actions } = useUnread(app)
  const isKnown = status === 'live' && !isPrevious
  const [opened, open] = useState<{ app: AppRef; marked: number | undefined }>()
  // What was read at first is remembered: afterwards everything is.
  if (isKnown && opened?.app !== app) open({ app, marked: data.is_unread ? (data.marked_id ?? 0) : undefined })
  const isVisible = useIsVisible()
  const newest = rows.findLast(({ id }) => id !== undefined)?.id
  useEffect(() => {
    // What could not be marked stays unread, and is marked with the next message.
    if (isKnown && data.is_unread && isAtEnd && isVisible) actions?.mark(newest).catch(() => {})
  }, [actions, isKnown, data.is_unread, isAtEnd, isVisible, newest])
  const { marked } = opened ?? {}
  if (opened?.app !== app || marked === undefined) return undefined
  return rows.find(({ id, created_by }) => id !== undefined && id > marked && created_by?.id !== me)?.key
}

function useIsVisible(): boolean {
  const [isVisible, set] = useState(true)
  useEffect(() => {
    const onChange = () => set(document.visibilityState === 'visible')
    onChange()
    document.addEventListener('visibilitychange', onChange)
    return () => document.removeEventListener('visibilitychange', onChange)
  }, [])
  return isVisible
}
