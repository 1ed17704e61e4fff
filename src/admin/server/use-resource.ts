import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Refusal } from './refusal.ts'
import { useServer, type Query } from './server.ts'

/** How often live data is reloaded while the page is visible. */
const livePeriodMs = 5_000

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
  data?: T | undefined
  failure?: Refusal
}

interface Options {
  query?: Query
  /** Reloads it every few seconds while the page is visible. */
  isLive?: boolean
}

/** Keeps what the server answers to a GET. */
export function useResource<T>(path: string, { query = {}, isLive = false }: Options = {}): Resource<T> {
  const server = useServer()
  return useLoad(`${path} ${JSON.stringify(query)}`, signal => server.get<T>(path, query, signal), isLive)
}

/** Loads data with `load`; `question` identifies it. An unmounted component loads nothing more. */
export function useLoad<T>(question: string, load: (signal: AbortSignal) => Promise<T>, isLive = false): Resource<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ question: '' })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    let asked = new AbortController()
    let timer = 0
    const poll = async () => {
      asked.abort()
      const { signal } = (asked = new AbortController())
      try {
        const data = await latest.current(signal)
        if (!signal.aborted) setAnswer({ question, data })
      } catch (error) {
        // Calls of the server reject with nothing else.
        const failure = error as Refusal
        if (!signal.aborted) setAnswer(({ data }) => ({ question, data, failure }))
      }
      if (isLive && !signal.aborted && !document.hidden) timer = window.setTimeout(poll, livePeriodMs)
    }
    const onVisible = () => {
      window.clearTimeout(timer)
      if (!document.hidden) void poll()
    }
    void poll()
    if (isLive) document.addEventListener('visibilitychange', onVisible)
    return () => {
      asked.abort()
      window.clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [question, isLive, turn])

  const reload = useCallback(() => setTurn(before => before + 1), [])
  return { data: answer.data, failure: answer.failure, isLoading: answer.question !== question, reload }
}
