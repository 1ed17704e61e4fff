import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Refusal } from './refusal.ts'

/** How often what is live is asked for again, while the page can be seen. */
export const livePeriodMs = 5_000

export interface Resource<T> {
  /** What was answered last, also to an earlier question: a list stays in sight until its next page is there. */
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
 * Keeps what `load` resolves with; `question` names it, and null asks nothing. With `everyMs` it is asked again and again,
 * as long as the page can be seen. An unmounted component asks for nothing more.
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
    const look = async () => {
      asked.abort()
      const { signal } = (asked = new AbortController())
      try {
        const data = await latest.current(signal)
        if (!signal.aborted) setAnswer({ question, data })
      } catch (error) {
        const failure = error instanceof Refusal ? error : Refusal.unreachable()
        if (!signal.aborted) setAnswer(({ data }) => ({ question, failure, ...(data !== undefined && { data }) }))
      }
      if (everyMs !== null && !signal.aborted && !document.hidden) timer = window.setTimeout(look, everyMs)
    }
    const onVisible = () => {
      window.clearTimeout(timer)
      if (!document.hidden) void look()
    }
    void look()
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
