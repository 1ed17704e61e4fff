import type { Origin } from './load/socket.ts'

/** What is measured: one or more nodes of Parley, wherever they run, or the server that it is compared with. */
export interface Server {
  /** Where its nodes are reached. */
  origins: Origin[]
  /** What can be looked at of it while it runs; null for one that runs elsewhere. */
  processes: Processes | null
  /** Calls the API with the API key, or a token; gives the text of the answer. Throws unless it is 2xx. */
  call(method: string, path: string, body?: unknown, credential?: string): Promise<string>
  /** What its tables and indexes take on the disk; unknown of one that runs elsewhere. */
  databaseBytes?(): Promise<number>
}

/** Ids of processes on this machine. */
export interface Processes {
  /** Nodes, and Redis where there is one. The first is the node whose memory counts. */
  servers: number[]
  postmaster: number | null
}

/** One call of an API, by HTTP or HTTPS; see `Server`. */
export async function callApi(
  base: string,
  { method, path, body, credential }: { method: string; path: string; body: unknown; credential: string },
): Promise<string> {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`)
  return text
}
