import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Json } from '../../api/json.ts'
import { hashOf } from '../../auth/credentials.ts'
import { TooManyAttempts, type LoginThrottle } from '../../auth/login-throttle.ts'
import type { GlobalCommands } from '../../engine/global/global-commands.ts'
import { unauthenticated } from '../../auth/principal.ts'
import { reply, route, type Reply, type Route } from '../../http/route.ts'
import { Problem } from '../../lib/errors.ts'
import type { Sql } from '../../postgres/sql.ts'
import { findByPassword } from '../../resources/auth/password.ts'
import { isOfGrant } from '../../resources/tokens/grants/store.ts'
import { allowClient, endOwnGrant, redeem, tokenSeconds } from '../../resources/tokens/grants/commands.ts'
import { AuthorizationQuery, checkAsked, isResource, type Asked } from './asked.ts'
import { ClientName, Clients, RedirectUris } from './clients.ts'
import { showConsent, showFault } from './page.ts'

/** The one scope: what the token's user may do, at /mcp. */
export const scope = 'mcp'

export interface OAuthParts {
  sql: Sql
  globalCommands: GlobalCommands
  loginThrottle: LoginThrottle
  /** True where clients may only read. */
  isReadOnly: boolean
}

/** Text of a form, and its answers as OAuth writes them. */
const Form = z.record(z.string(), z.string())
const Answer = z.looseObject({})
const noStore = { 'Cache-Control': 'no-store' }
const answer = <Status extends number>(status: Status, body: object): Reply<Status> =>
  reply(status, new Json(JSON.stringify(body)), noStore)
const refuse = (error: string, error_description: string) => answer(400, { error, error_description })

/**
 * The authorization server of deployments without one of their host (OAuth 2.1, RFC 8414, 7591, 7009 and 9207): a user signs
 * in with username and password, and allows a client to act in its name at /mcp. It has no sessions and no cookies.
 */
export function oauthRoutes(parts: OAuthParts): Route[] {
  const { sql, globalCommands } = parts
  const clients = new Clients(sql)

  const describe = route('GET /.well-known/oauth-authorization-server', {
    summary: 'Say how clients get tokens (RFC 8414)',
    auth: 'none',
    takesAnyQuery: true,
    replies: { 200: Answer },
    handle: ({ origin }) =>
      answer(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/oauth/authorize`,
        token_endpoint: `${origin}/oauth/token`,
        registration_endpoint: `${origin}/oauth/register`,
        revocation_endpoint: `${origin}/oauth/revoke`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        scopes_supported: [scope],
        authorization_response_iss_parameter_supported: true,
      }),
  })

  const register = route('POST /oauth/register', {
    summary: 'Register a client (RFC 7591)',
    auth: 'none',
    body: Answer,
    replies: { 201: Answer, 400: Answer },
    async handle({ body }) {
      const { data: redirectUris, error } = RedirectUris.safeParse(body.redirect_uris)
      if (error) return refuse('invalid_redirect_uri', `redirect_uris: ${error.issues[0]!.message}`)
      const { id, name } = await clients.register(ClientName.catch('A client').parse(body.client_name), redirectUris)
      return answer(201, {
        client_id: id,
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope,
      })
    },
  })

  const ask = route('GET /oauth/authorize', {
    summary: 'Ask the user whether a client may act in its name',
    auth: 'none',
    takesAnyQuery: true,
    query: AuthorizationQuery,
    replies: { 200: z.string(), 400: z.string() },
    async handle({ query, origin }) {
      const asked = await checkAsked(query, origin, clients)
      return 'sentence' in asked ? showFault(asked) : consent(200, asked)
    },
  })

  const consent = <Status extends number>(status: Status, asked: Asked, username = '', fault = '') =>
    showConsent(asked, { status, mayWrite: !parts.isReadOnly, username, fault })

  const decide = route('POST /oauth/authorize', {
    summary: 'Sign in, and allow it or not',
    auth: 'none',
    takesAnyQuery: true,
    query: AuthorizationQuery,
    takesForm: true,
    body: Form,
    headers: ['origin', 'sec-fetch-site'],
    replies: { 303: null, 400: z.string(), 403: z.string(), 429: z.string() },
    async handle({ query, body, origin, headers, addressOf }) {
      const address = addressOf()
      const asked = await checkAsked(query, origin, clients)
      if ('sentence' in asked) return showFault(asked)
      if (!isOwnForm(headers, origin))
        return consent(403, asked, '', 'Another page has sent this. If you want it, say so here.')
      const leave = (parameters: Record<string, string>) =>
        reply(303, undefined, { ...noStore, Location: asked.answer(parameters), 'Referrer-Policy': 'no-referrer' })
      if (body.decision === 'deny') return leave({ error: 'access_denied' })
      const { username = '', password = '' } = body
      try {
        const user = await findByPassword({ username, password, address }, parts)
        const { client, redirectUri: redirect_uri, challenge } = asked
        const allowed = { client: hashOf(client.id), client_name: client.name, redirect_uri, challenge }
        const by = { kind: 'user', user: user ?? 0, credential: '', ip: address } as const
        const code = user === null ? null : await globalCommands.run(allowClient, by, allowed)
        if (code !== null) return leave({ code })
        return consent(403, asked, username, 'The username or the password is wrong.')
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== TooManyAttempts.code) throw error
        return consent(429, asked, username, error.message)
      }
    },
  })

  const exchange = route('POST /oauth/token', {
    summary: 'Exchange a code or a refresh token for tokens',
    auth: 'none',
    takesForm: true,
    body: Form,
    replies: { 200: Answer, 400: Answer },
    async handle({ body, origin }) {
      const asked = toRedeemed(body)
      if (asked === null)
        return refuse('unsupported_grant_type', 'grant_type is to be authorization_code or refresh_token.')
      if (!isResource(body.resource, origin)) return refuse('invalid_target', `There is no ${body.resource} here.`)
      const tokens = (await isOfGrant(sql, asked.secret))
        ? await globalCommands.run(redeem, unauthenticated, asked)
        : null
      if (tokens === null)
        return refuse(
          'invalid_grant',
          'It is not valid: it is unknown, has expired, was used or revoked, or is of another client.',
        )
      return answer(200, { ...tokens, token_type: 'Bearer', expires_in: tokenSeconds, scope })
    },
  })

  const revoke = route('POST /oauth/revoke', {
    summary: 'End what a user has allowed a client (RFC 7009)',
    auth: 'none',
    takesForm: true,
    body: Form,
    replies: { 200: null },
    async handle({ body: { token = '', client_id = '' } }) {
      const given = { token, client: hashOf(client_id) }
      if (await isOfGrant(sql, token)) await globalCommands.run(endOwnGrant, unauthenticated, given)
      return reply(200, undefined, noStore)
    },
  })

  return [describe, register, ask, decide, exchange, revoke]
}

/** False where a page of another origin has sent the form. Programs say neither; they hold no sessions of the user's either. */
function isOwnForm({ origin, 'sec-fetch-site': site }: Readonly<Record<string, string>>, own: string): boolean {
  return site === 'same-origin' || (site === '' && (origin === '' || origin === own))
}

function toRedeemed({ grant_type, client_id = '', ...given }: Record<string, string>) {
  const client = hashOf(client_id)
  if (grant_type === 'refresh_token') return { kind: 'refresh', secret: given.refresh_token ?? '', client } as const
  if (grant_type !== 'authorization_code') return null
  const challenge = createHash('sha256')
    .update(given.code_verifier ?? '')
    .digest('base64url')
  const { redirect_uri } = given
  return {
    kind: 'code',
    secret: given.code ?? '',
    client,
    challenge,
    ...(redirect_uri !== undefined && { redirect_uri }),
  } as const
}
