import { newApiKey } from '../../auth/api-key.ts'
import { countKeys, findKey, listKeys, orderFields, type KeyRow } from '../../auth/key-store.ts'
import type { Principal } from '../../auth/principal.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { invalid, NotFound, requireFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { createKey, revokeKey, updateKey } from './commands.ts'
import {
  Key,
  KeyChange,
  KeyIsRevoked,
  KeyListing,
  KeyPath,
  KeyRevocation,
  Keys,
  LastKey,
  MadeKey,
  NewKey,
  OwnKey,
} from './schema.ts'

const create = route('POST /api/keys', {
  summary: 'Make an API key, which is shown this once',
  description: 'Give each server a key of its own, so that one can be revoked without the others.',
  auth: 'key',
  body: NewKey,
  creates: true,
  replies: { 201: MadeKey },
  async handle({ body, by, idempotencyKey }, { globalCommands, now }) {
    const made = newApiKey()
    const { name, expires_in } = body
    const expiresAt =
      expires_in === undefined ? (body.expires_at ?? null) : new Date(now().getTime() + expires_in * 1000)
    requireFuture(expiresAt, now())
    const input = { name, hash: made.hash, prefix: made.prefix, expiresAt }
    const { id, hash, prefix, created_at, expires_at } = await globalCommands.run(createKey, by, input, idempotencyKey)
    // A repeated request finds the first one's key, of which only the hash is known.
    const key = hash === input.hash ? made.key : null
    return reply(201, { id, name, prefix, created_at, expires_at, key })
  },
})

const list = route('GET /api/keys', {
  summary: 'List API keys',
  auth: 'key',
  query: KeyListing,
  replies: { 200: Keys },
  async handle({ query, by }, { sql }) {
    const page = toPage(query, orderFields, 'id')
    const filter = { q: query.q, isRevoked: query.revoked }
    const count = await countKeys(sql, filter)
    const keys = page.countOnly ? [] : await listKeys(sql, filter, page)
    return reply(
      200,
      toPagedList(
        page,
        count,
        keys.map(key => showKey(key, by)),
      ),
    )
  },
})

const get = route('GET /api/keys/{id}', {
  summary: 'Get what is known of an API key',
  auth: 'key',
  params: KeyPath,
  replies: { 200: Key },
  problems: [NotFound],
  async handle({ params, by }, { sql }) {
    const key = requireFound(await findKey(sql, toId(params.id)))
    return reply(200, showKey(key, by))
  },
})

const update = route('PATCH /api/keys/{id}', {
  summary: 'Change the name of an API key, or when it ends',
  auth: 'key',
  params: KeyPath,
  body: KeyChange,
  replies: { 200: Key },
  problems: [NotFound, KeyIsRevoked],
  async handle({ params, body, by }, { globalCommands, now }) {
    requireFuture(body.expires_at ?? null, now())
    return reply(200, showKey(await globalCommands.run(updateKey, by, { id: toId(params.id), ...body }), by))
  },
})

const revoke = route('DELETE /api/keys/{id}', {
  summary: 'Revoke an API key, for good',
  auth: 'key',
  params: KeyPath,
  query: KeyRevocation,
  replies: { 204: null },
  problems: [NotFound, LastKey, OwnKey],
  async handle({ params, query, by }, { globalCommands }) {
    await globalCommands.run(revokeKey, by, { id: toId(params.id), isForced: query.force === true })
    return reply(204)
  },
})

/** 422 for a time in the past: revoking does that visibly, and protects the last key. */
function requireFuture(expiresAt: Date | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now) throw invalid({ expires_at: ['must be in the future'] })
}

function showKey(row: KeyRow, by: Principal) {
  const { id, name, prefix, created_at, expires_at, revoked_at, last_used_at, hash } = row
  return { id, name, prefix, created_at, expires_at, revoked_at, last_used_at, is_current: hash === by.credential }
}

export const routes = [create, list, get, update, revoke]
