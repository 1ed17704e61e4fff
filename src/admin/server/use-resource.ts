import { useServer, type Query } from './server.ts'
import { useLoad, type Resource } from './use-load.ts'

interface Options {
  query?: Query
  everyMs?: number
}

/** Keeps what the server answers to a GET; of a null path nothing. */
export function useResource<T>(path: string | null, { query = {}, everyMs }: Options = {}): Resource<T> {
  const server = useServer()
  const question = path === null ? null : `${path} ${JSON.stringify(query)}`
  return useLoad(question, signal => server.get<T>(path!, query, signal), everyMs ?? null)
}
