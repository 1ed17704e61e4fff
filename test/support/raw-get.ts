import { once } from 'node:events'
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** An answer as it came: `fetch` decodes it, and asks for codings of its own. */
export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export async function rawGet(url: string, headers: Record<string, string>): Promise<RawAnswer> {
  const [response] = (await once(get(url, { headers, agent: false }), 'response')) as [IncomingMessage]
  return { status: response.statusCode!, headers: response.headers, body: await buffer(response) }
}
