import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'

/** A client of the official library, connected; `auto` speaks the current revision, `legacy` the one before. */
export async function connectClient(
  url: string,
  token: string,
  mode: 'auto' | 'legacy' = 'auto',
): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'desk', version: '7.1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

// As in `client.ts`, what a test makes of a result is its own business.
// oxlint-disable-next-line typescript/no-explicit-any
export async function callTool(client: Client, name: string, args: object = {}): Promise<any> {
  const result = await callRaw(client, name, args)
  if (result.isError) throw new Error(textOf(result))
  return result.structuredContent
}

export async function callRaw(client: Client, name: string, args: object = {}): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: { ...args } })) as CallToolResult
}

export function textOf({ content }: CallToolResult): string {
  return content.map(part => (part.type === 'text' ? part.text : '')).join('')
}
