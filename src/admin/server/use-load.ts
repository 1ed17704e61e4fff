import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Refusal } from './refusal.ts'

/** How often live data is reloaded while the page is visible. */
export const livePeriodMs = 5_000

export interface Resource<T> {
  /** The last result, also of an earlier question: a list stays visible until its next page is loaded. */
  data: T | undefined
  /** Why the last question was not answered. */
  failure: Refusal | undefined
  /** The answer to the present question is on its way. */
  isLoading: boolean
  reload(): void
}

interface Answer<T> {
  question: string
  data?: T
  failure?: Refusal
}

/**
 * Loads data with `load`; `question` identifies it, and null loads nothing. With `everyMs` it is reloaded while the
 * page is visible. An unmounted component loads nothing more.
 */
export function useLoad<T>(
  question: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs: number | null,
): Resource<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ question: '' })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    if (question === null) return
    let asked = new AbortController()
    let timer = 0
    const poll = async () => {
      asked.abort()
      const { signal } = (asked = new AbortController())
      try {
        const data = await latest.current(signal)
        if (!signal.aborted) setAnswer({ question, data })
      } catch (error) {
        const failure = error instanceof Refusal ? error : Refusal.unreachable()
        if (!signal.aborted) setAnswer(({ data }) => ({ question, failure, ...(data !== undefined && { data }) }))
      }
      if (everyMs !== null && !signal.aborted && !document.hidden) timer = window.setTimeout(poll, everyMs)
    }
    const onVisible = () => {
      window.clearTimeout(timer)
      if (!document.hidden) void poll()
    }
    void poll()
    if (everyMs !== null) document.addEventListener('visibilitychange', onVisible)
    return () => {
      asked.abort()
      window.clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [question, everyMs, turn])

  const reload = useCallback(() => setTurn(before => before + 1), [])
  const isLoading = question !== null && answer.question !== question
  return { data: answer.data, failure: answer.failure, isLoading, reload }
}
