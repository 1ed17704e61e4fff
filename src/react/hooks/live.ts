import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { Readable, Snapshot } from '@parley/client'

/** What a hook gives: data, and how far it can be relied on. */
export interface Live<Data> extends Omit<Snapshot<Data>, 'rev'> {
  /** True while the data is still that of the arguments before. */
  readonly isPrevious: boolean
}

/** A part of the data: a component with a selector renders when the selected value has changed. */
export interface Select<Data, Value> {
  (snapshot: Snapshot<Data>): Value
}

const noMore = async () => {}

/** Nothing is known. Servers render with it, and browsers begin with it, so that both make the same page. */
export function nothing<Data>(data: Data): Snapshot<Data> {
  return {
    data,
    status: 'loading',
    reason: undefined,
    error: undefined,
    hasMore: false,
    isLoadingMore: false,
    loadMore: noMore,
    rev: undefined,
  }
}

let isAwaited = false

/** Within it, hooks begin with what is known, on servers and in browsers: it was waited for. */
export function whileAwaited<Value>(use: () => Value): Value {
  const before = isAwaited
  isAwaited = true
  try {
    return use()
  } finally {
    isAwaited = before
  }
}

/** The present snapshot of a collection, or a selected part of it; `empty` where there is no collection. */
export function useSelected<Data, Value>(
  collection: Readable<Snapshot<Data>> | undefined,
  empty: Snapshot<Data>,
  select: Select<Data, Value>,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
): Value {
  const shown = useRef<{ value: Value } | undefined>(undefined)
  const beginsKnown = isAwaited
  const subscribe = useCallback((listener: () => void) => collection?.subscribe(listener) ?? (() => {}), [collection])
  const [get, getOnServer] = useMemo(() => {
    let last: { from: Snapshot<Data>; value: Value } | undefined
    const toValue = (from: Snapshot<Data>) => {
      if (last?.from === from) return last.value
      const value = select(from)
      // The value that is shown stays the same object while it is equal, also with a selector made anew at each render.
      const before = last ?? shown.current
      last = { from, value: before !== undefined && isEqual(before.value, value) ? before.value : value }
      return last.value
    }
    const get = () => toValue(collection?.get() ?? empty)
    return [get, beginsKnown ? get : () => toValue(empty)]
  }, [collection, empty, select, isEqual, beginsKnown])
  const value = useSyncExternalStore(subscribe, get, getOnServer)
  useEffect(() => {
    shown.current = { value }
  }, [value])
  return value
}

const whole = <Data>(snapshot: Snapshot<Data>) => snapshot

/** A collection as it is now. While another one loads for the first time, the data before stays. */
export function useLive<Data>(collection: Readable<Snapshot<Data>> | undefined, empty: Snapshot<Data>): Live<Data> {
  const snapshot = useSelected(collection, empty, whole)
  const kept = useRef<{ data: Data } | undefined>(undefined)
  const isUnknown = snapshot.status === 'loading' && snapshot.data === empty.data
  const before = isUnknown && collection !== undefined ? kept.current : undefined
  useEffect(() => {
    if (!isUnknown) kept.current = { data: snapshot.data }
  }, [isUnknown, snapshot])
  return useMemo(() => {
    const { data, status, reason, error, hasMore, isLoadingMore, loadMore } = snapshot
    const shown = before === undefined ? data : before.data
    return { data: shown, status, reason, error, hasMore, isLoadingMore, loadMore, isPrevious: before !== undefined }
  }, [snapshot, before])
}
