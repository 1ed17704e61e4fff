import { useEffect, useMemo, useState } from 'react'
import type { AnswerOf, OptionsOf, ParleyError } from '@parley/client'
import { useParley } from './context.tsx'
import { nothing, type Live } from './live.ts'

/** What is searched for: `q`, its words, and what narrows it, such as `in`, `app`, `by`, `has`, `order`. */
export type SearchQuestion = Omit<OptionsOf<'/api/search', 'get'>['query'], 'cursor'>

/** A message, post, comment, file, person or app that was found, with the text around it. */
export type SearchHit = NonNullable<AnswerOf<'/api/search', 'get'>['data']>[number]

interface Found {
  /** The question, as JSON. */
  of: string
  data: readonly SearchHit[]
  cursor?: string | undefined
  error?: ParleyError | undefined
}

/** How long it waits for the next letter, in milliseconds. */
const pauseMs = 150

const none: Found = { of: '', data: [] }
const empty = nothing<readonly SearchHit[]>([])

/**
 * What is found for a question, best first. It is asked for when typing pauses, and given up when it changes; what was
 * found before stays until then. Without words, nothing is asked and found.
 */
export function useSearch(question: SearchQuestion): Live<readonly SearchHit[]> {
  const parley = useParley()
  const [found, set] = useState(none)
  const [more, setMore] = useState<AbortController>()
  const of = JSON.stringify(question)
  const isAsked = String(question.q ?? '').trim() !== ''
  useEffect(() => {
    if (!isAsked) return set(none)
    const abort = new AbortController()
    const ask = async () => {
      try {
        const query = JSON.parse(of) as SearchQuestion
        const { data = [], cursor } = await parley.http.get('/api/search', { query, signal: abort.signal })
        set({ of, data, cursor })
      } catch (thrown) {
        if (!abort.signal.aborted) set({ of, data: [], error: thrown as ParleyError })
      }
    }
    const timer = setTimeout(() => void ask(), pauseMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [parley, of, isAsked])
  useEffect(() => () => more?.abort(), [more, of])
  return useMemo(() => {
    const isPrevious = isAsked && found.of !== of
    const loadMore = async () => {
      if (isPrevious || found.cursor === undefined || more !== undefined) return
      const abort = new AbortController()
      setMore(abort)
      try {
        const query = { ...(JSON.parse(of) as SearchQuestion), cursor: found.cursor }
        const { data = [], cursor } = await parley.http.get('/api/search', { query, signal: abort.signal })
        set(found => (found.of === of ? { of, data: [...found.data, ...data], cursor } : found))
      } catch (thrown) {
        const error = thrown as ParleyError
        if (!abort.signal.aborted) set(found => ({ ...found, error }))
      }
      setMore(undefined)
    }
    return {
      ...empty,
      data: isAsked ? found.data : empty.data,
      status: isPrevious ? 'loading' : found.error === undefined ? 'live' : 'stale',
      error: found.error,
      hasMore: !isPrevious && found.cursor !== undefined,
      isLoadingMore: more !== undefined,
      isPrevious,
      loadMore,
    } as const
  }, [parley, of, isAsked, found, more])
}
