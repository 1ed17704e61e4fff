import { useEffect, useState } from 'preact/hooks'
import { useServer } from './server.ts'
import type { FigureName } from './shapes.ts'
import { useLoad, type Resource } from './use-resource.ts'

/** How often nodes write their figures down. */
const samplePeriodMs = 60_000

/** A span of time, and how much of it a point stands for: some hundred points, as many as can be told apart. */
export const spans = {
  '1h': { seconds: 3_600, step: 60 },
  '24h': { seconds: 86_400, step: 300 },
  '7d': { seconds: 604_800, step: 3_600 },
} as const
export type Span = keyof typeof spans

/** In the order of time. */
export type Points = [time: string, value: number][]

/** Figures over a span of time, in seconds since 1970; steps without samples have no point. */
export interface Figures {
  byName: Partial<Record<FigureName, Points>>
  from: number
  to: number
  step: number
}

/** Figures over the span that ends now; a minute later, the one that ends then. */
export function useSeries(names: readonly FigureName[], span: Span): Resource<Figures> {
  const server = useServer()
  const minute = useMinute()
  const { seconds, step } = spans[span]
  const load = async (signal: AbortSignal): Promise<Figures> => {
    const to = Math.floor(Date.now() / 1000)
    const from = to - seconds
    const query = { from: toMoment(from), to: toMoment(to), step }
    const series = await Promise.all(
      names.map(async name => {
        const { points = [] } = await server.get<{ points?: Points }>('/admin/series', { ...query, name }, signal)
        return [name, points] as const
      }),
    )
    return { byName: Object.fromEntries(series), from, to, step }
  }
  return useLoad(`${names.join()} ${span} ${minute}`, load)
}

/** Counts minutes, while the page can be seen. */
function useMinute(): number {
  const [minute, setMinute] = useState(0)
  useEffect(() => {
    const next = () => {
      if (!document.hidden) setMinute(before => before + 1)
    }
    const timer = window.setInterval(next, samplePeriodMs)
    return () => window.clearInterval(timer)
  }, [])
  return minute
}

const toMoment = (seconds: number) => new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
