import { createHash, randomBytes } from 'node:crypto'
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { Server } from './server.ts'

export const callback = 'http://127.0.0.1:7777/callback'
const password = 'correct horse battery'

/** Somebody with a username and a password. */
export async function personWithPassword(server: Server, username: string) {
  const { status, body } = await server.admin.post('/api/users', { uid: username, name: username, username, password })
  if (status !== 201) throw new Error(`A test could not be set up: ${JSON.stringify(body)}`)
  return { id: body.id as string, username, password }
}

/** What an application keeps for the official library; the browser is the test. */
export class Keeper implements OAuthClientProvider {
  asked: URL | null = null
  registered: StoredOAuthClientInformation | undefined
  kept: StoredOAuthTokens | undefined
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined

  readonly redirectUrl = callback
  readonly clientMetadata = {
    client_name: 'Desk',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  state = () => 'a state'
  clientInformation = () => this.registered
  saveClientInformation = (client: StoredOAuthClientInformation) => void (this.registered = client)
  tokens = () => this.kept
  saveTokens = (tokens: StoredOAuthTokens) => void (this.kept = tokens)
  redirectToAuthorization = (url: URL) => void (this.asked = url)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
  saveDiscoveryState = (state: OAuthDiscoveryState) => void (this.#discovered = state)
  discoveryState = () => this.#discovered
}

/** A client of the official library that has been through all of it: discovery, registration, consent, code, tokens. */
export async function connectByConsent(
  server: Server,
  user: { username: string; password: string },
  mode: 'auto' | 'legacy' = 'auto',
) {
  const keeper = new Keeper()
  const toTransport = () => new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: keeper })
  const toClient = () => new Client({ name: 'desk', version: '7.1' }, { versionNegotiation: { mode } })
  const first = toTransport()
  await toClient()
    .connect(first)
    .catch((error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error
    })
  const answer = new URL((await decide(keeper.asked!, user)).headers.get('location')!)
  await first.finishAuth(answer.searchParams)
  const client = toClient()
  await client.connect(toTransport())
  return { keeper, answer, client: Object.assign(client, { [Symbol.asyncDispose]: () => client.close() }) }
}

/** Sends the form of the page, as a browser does. */
export function decide(
  page: URL | string,
  { username, password, decision = 'allow' }: { username: string; password: string; decision?: string },
  headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
): Promise<Response> {
  const body = new URLSearchParams({ username, password, decision })
  return fetch(page, { method: 'POST', body, headers, redirect: 'manual' })
}

export interface Registered {
  client_id: string
  verifier: string
  /** The page that asks the user; `changes` replace its parameters, undefined leaves one out. */
  page(changes?: Record<string, string | undefined>): string
  /** Asks the token endpoint for tokens for a code. */
  exchange(
    code: string,
    changes?: Record<string, string | undefined>,
  ): Promise<{ status: number; body: Record<string, string> }>
}

/** A client that is made by hand, which may do what no honest one does. */
export async function register(
  server: Server,
  redirect_uri = callback,
  client_name = 'Hand-made',
): Promise<Registered> {
  const { client_id } = await (await postJson(server, { client_name, redirect_uris: [redirect_uri] })).json()
  const verifier = randomBytes(32).toString('base64url')
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  return {
    client_id,
    verifier,
    page(changes = {}) {
      const asked = { response_type: 'code', client_id, redirect_uri, code_challenge, code_challenge_method: 'S256' }
      return `${server.url}/oauth/authorize?${toForm({ ...asked, state: 's', resource: `${server.url}/mcp`, ...changes })}`
    },
    exchange: (code, changes = {}) =>
      postForm(server, '/oauth/token', {
        ...{ grant_type: 'authorization_code', code, client_id, code_verifier: verifier, redirect_uri },
        ...changes,
      }),
  }
}

export const postJson = (server: Server, body: object) =>
  fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

export async function postForm(server: Server, path: string, values: Record<string, string | undefined>) {
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body: toForm(values) })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, string> }
}

function toForm(values: Record<string, string | undefined>): URLSearchParams {
  return new URLSearchParams(Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** The code that a browser was sent away with. */
export function codeOf(response: Response): string {
  return new URL(response.headers.get('location')!).searchParams.get('code')!
}
