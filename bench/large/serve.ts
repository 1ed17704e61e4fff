import { NodeProcess } from '../node-process.ts'
import { callApi, type Server } from '../server.ts'
import { openData } from './data.ts'

export const key = 'wys_a-key-for-measurements-that-is-long-enough'

/** Where the data is: in the folder of an embedded database, or at `url`. */
export interface Place {
  dir: string
  url: string | null
}

/** Does something with the database, which is ended afterwards where it is ours. */
export async function withData<Result>({ dir, url }: Place, run: (url: string) => Promise<Result>): Promise<Result> {
  const data = await openData(dir, url)
  try {
    return await run(data.url)
  } finally {
    await data.stop()
  }
}

/** Does something with the real server, in a process of its own. */
export async function withServer<Result>(
  { dir, database }: { dir: string; database: string },
  run: (server: Server) => Promise<Result>,
): Promise<Result> {
  const environment = { API_KEY: key, DATABASE_URL: database }
  const node = await NodeProcess.start({ dir, nodeArgs: [], environment })
  const origin = { host: '127.0.0.1', port: node.port, isSecure: false }
  try {
    return await run({
      origins: [origin],
      processes: null,
      call: (method, path, body, credential = key) =>
        callApi(`http://${origin.host}:${origin.port}`, { method, path, body, credential }),
    })
  } finally {
    await node.stop()
  }
}
