import { useCallback, useEffect, useRef, useState } from 'react'
import type { ParleyError } from '@parley/client'
import { useParley } from '../../hooks/context.tsx'

/** A file on its way up. */
export interface Upload {
  readonly key: number
  readonly name: string
  /** The share that is sent, from 0 to 1. */
  readonly share: number
  /** The id of the stored blob. */
  readonly blob: number | undefined
  readonly error: ParleyError | undefined
}

export interface Uploads {
  readonly list: readonly Upload[]
  readonly isBusy: boolean
  readonly add: (files: Iterable<File>) => void
  readonly remove: (key: number) => void
  readonly clear: () => void
}

let keys = 0

/** Uploads files with progress. What is on its way when the component goes is given up. */
export function useUploads(): Uploads {
  const parley = useParley()
  const [list, set] = useState<readonly Upload[]>([])
  const running = useRef(new Map<number, AbortController>())
  const change = useCallback((key: number, change: Partial<Upload>) => {
    set(list => list.map(one => (one.key === key ? { ...one, ...change } : one)))
  }, [])
  const remove = useCallback((key: number) => {
    running.current.get(key)?.abort()
    set(list => list.filter(one => one.key !== key))
  }, [])
  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        const key = ++keys
        const abort = new AbortController()
        running.current.set(key, abort)
        set(list => [...list, { key, name: file.name, share: 0, blob: undefined, error: undefined }])
        const onProgress = (share: number) => change(key, { share })
        parley
          .upload(file, { onProgress, signal: abort.signal })
          .then(({ id }) => change(key, { blob: id }))
          .catch((error: ParleyError) => change(key, { error }))
          .finally(() => running.current.delete(key))
      }
    },
    [parley, change],
  )
  useEffect(() => {
    const { current } = running
    return () => {
      for (const abort of current.values()) abort.abort()
    }
  }, [])
  const clear = useCallback(() => set([]), [])
  const isBusy = list.some(({ blob, error }) => blob === undefined && error === undefined)
  return { list, isBusy, add, remove, clear }
}
