import { tokenLimit } from '../../auth/authentication.ts'
import { z } from 'zod'
import { ReferenceInput } from '../../api/reference.ts'
import { IdInput } from '../../api/shape.ts'
import type { Problem } from '../../lib/errors.ts'
import type { Subscription } from '../topics/subscription.ts'
import type { Frame } from './protocol.ts'

/** What a client may ask for with a subscription. */
const terms = {
  after: IdInput.optional(),
  epoch: z.string().max(64).optional(),
  snapshot: z.int().min(0).max(100).optional(),
  agents: z.boolean().optional(),
  request_id: IdInput.optional(),
}

/** The app of a subscription: by id, or by id or uid. */
const named = { app_id: IdInput.optional(), app: ReferenceInput.optional() }

/** The most apps of one frame: more than a frame of the usual limit can name. */
const appsLimit = 1_000

const hasOne = (...given: unknown[]) => given.filter(value => value !== undefined).length === 1

/** An app to subscribe to. */
const Asked = z.object({ ...named, ...terms }).refine(({ app_id, app }) => hasOne(app_id, app))
export type Asked = z.output<typeof Asked>

/** Frames of clients. Ids and revs may be numbers or strings, as in requests. */
export const Incoming = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    access_token: z.string().min(1).max(tokenLimit),
    scalars: z.enum(['string', 'number']).optional(),
  }),
  z
    .object({
      type: z.literal('subscribe'),
      ...named,
      apps: z.array(Asked).max(appsLimit).optional(),
      ...terms,
    })
    .refine(({ app_id, app, apps }) => hasOne(app_id, app, apps)),
  z.object({ type: z.literal('unsubscribe'), app_id: IdInput }),
  z.object({ type: z.literal('online'), is_wanted: z.boolean() }),
  z.object({ type: z.literal('ping') }),
])
export type Incoming = z.output<typeof Incoming>

/** Why a subscription ended. */
export type Ending = 'requested' | 'access-lost' | 'app-gone'

export const pong: Frame = { type: 'pong' }

/** Includes the seconds that are left, because the client's clock may be wrong. */
export const welcome = (user: number, scalars: string, expiresAt: number, now: number, epoch: string): Frame => ({
  type: 'welcome',
  user_id: user,
  scalars,
  epoch,
  expires_at: new Date(expiresAt),
  expires_in: Math.floor((expiresAt - now) / 1_000),
})

interface Answer {
  /** Where the subscription begins: the events after it follow. */
  readonly rev: number
  /** Where the app's history ends now. */
  readonly head_rev: number
  /** What history the revs belong to. */
  readonly epoch: string
  /** The app as it was at `rev`. */
  readonly snapshot?: object
}

/** The answer to a subscription. */
export const subscribed = ({ app, request, uid }: Subscription, { rev, head_rev, epoch, snapshot }: Answer): Frame => ({
  type: 'subscribed',
  app_id: app,
  uid,
  request_id: request,
  rev,
  head_rev,
  epoch,
  snapshot: snapshot ?? null,
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
