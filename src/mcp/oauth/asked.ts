import { z } from 'zod'
import { isRegistered, type Client, type Clients } from './clients.ts'

/** What a client asks of a user, in the address of the page (OAuth 2.1, section 4.1.1). */
export const AuthorizationQuery = z.object({
  client_id: z.string().optional(),
  redirect_uri: z.string().optional(),
  response_type: z.string().optional(),
  code_challenge: z.string().optional(),
  code_challenge_method: z.string().optional(),
  resource: z.string().optional(),
  state: z.string().optional(),
})
type Query = z.output<typeof AuthorizationQuery>

/** A question that can be put to the user. */
export interface Asked {
  client: Client
  redirectUri: string
  challenge: string
  /** The address that the browser is sent to, with the answer. */
  answer(parameters: Record<string, string>): string
}

/** A question that cannot: the sentence says why. With `back`, the client that asked is known, and may be told. */
export interface Faulty {
  sentence: string
  back?: { client: Client; url: string }
}

/** 43 characters: SHA-256 in base64url. */
const challengeForm = /^[\w-]{43}$/

/**
 * Checks a question. Users are never sent to an address that is not the client's, and to one of a client's only by a click of
 * theirs: registration is open, so a redirect without a click would lead wherever an attacker likes.
 */
export async function checkAsked(query: Query, origin: string, clients: Clients): Promise<Asked | Faulty> {
  const { redirect_uri: redirectUri = '', code_challenge: challenge = '', state } = query
  const client = await clients.find(query.client_id ?? '')
  if (client === null) return { sentence: 'The program that sent you here is not known. Let it connect anew.' }
  if (!isRegistered(redirectUri, client))
    return { sentence: 'The program that sent you here wants the answer sent to an address that is not its own.' }
  const answer = (parameters: Record<string, string>) => {
    const url = new URL(redirectUri)
    const all = { ...parameters, ...(state !== undefined && { state }), iss: origin }
    for (const [name, value] of Object.entries(all)) url.searchParams.append(name, value)
    return url.href
  }
  const refuse = (error: string, sentence: string): Faulty => ({
    sentence,
    back: { client, url: answer({ error, error_description: sentence }) },
  })
  if (query.response_type !== 'code') return refuse('unsupported_response_type', 'The program must ask for a code.')
  if (query.code_challenge_method !== 'S256' || !challengeForm.test(challenge))
    return refuse('invalid_request', 'The program must send a code_challenge, made by S256.')
  if (!isResource(query.resource, origin)) return refuse('invalid_target', `There is no ${query.resource} here.`)
  return { client, redirectUri, challenge, answer }
}

/** True for what tokens are issued for (RFC 8707). Clients of the first revisions do not say it. */
export function isResource(resource: string | undefined, origin: string): boolean {
  return resource === undefined || resource.replace(/\/$/, '') === `${origin}/mcp`
}
