import { z } from 'zod'
import { IdInput } from '../../api/shape.ts'
import type { Problem } from '../../lib/errors.ts'
import type { Frame } from './protocol.ts'

/** Frames of clients. Ids and revs may be numbers or strings, as in requests. */
export const Incoming = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    access_token: z.string().min(1).max(512),
    scalars: z.enum(['string', 'number']).optional(),
  }),
  z.object({
    type: z.literal('subscribe'),
    app_id: IdInput,
    after: IdInput.optional(),
    agents: z.boolean().optional(),
    request_id: IdInput.optional(),
  }),
  z.object({ type: z.literal('unsubscribe'), app_id: IdInput }),
  z.object({ type: z.literal('ping') }),
])
export type Incoming = z.output<typeof Incoming>

/** Why a subscription ended. */
export type Ending = 'requested' | 'access-lost' | 'app-gone'

export const pong: Frame = { type: 'pong' }

/** Includes the seconds that are left, because the client's clock may be wrong. */
export const welcome = (user: number, scalars: string, expiresAt: number, now: number): Frame => ({
  type: 'welcome',
  user_id: user,
  scalars,
  expires_at: new Date(expiresAt),
  expires_in: Math.floor((expiresAt - now) / 1_000),
})

/** The subject of an answer. */
interface Named {
  readonly app: number
  readonly request: number | undefined
}

/** `rev`: the events after it follow. `head_rev`: where the app's history ends now. */
export const subscribed = ({ app, request }: Named, rev: number, head_rev: number): Frame => ({
  type: 'subscribed',
  app_id: app,
  request_id: request,
  rev,
  head_rev,
})

/** Every event up to `rev` has been sent. */
export const current = (app_id: number, rev: number): Frame => ({ type: 'current', app_id, rev })

/** The history after the client's rev is not available: it must load the app again; events after `rev` follow. */
export const reset = (app_id: number, rev: number): Frame => ({ type: 'reset', app_id, rev })

export const unsubscribed = (app_id: number, reason: Ending): Frame => ({ type: 'unsubscribed', app_id, reason })

export const typing = (app_id: number, actor: object, is_typing: boolean): Frame => ({
  type: 'typing',
  app_id,
  actor,
  is_typing,
})

/** A refusal, with members of problem details (RFC 9457); `about` names what was refused. */
export const refusal = ({ status, code, message }: Problem, about: Record<string, unknown> = {}): Frame => ({
  type: 'error',
  status,
  code,
  detail: message,
  ...about,
})
