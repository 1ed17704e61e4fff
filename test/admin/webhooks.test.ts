import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { GlobalCommands } from '../../src/engine/global/global-commands.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { retryDelayMs } from '../../src/resources/webhooks/delivery/retry.ts'
import { createLog } from '../../src/lib/log.ts'
import { deliveryJobs } from '../../src/resources/webhooks/delivery.ts'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { acknowledge, answer, startReceiver, type Received } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'
import { attempts, payloadOf, register } from '../support/webhooks.ts'

/** A chat room in which the key may say something. */
const chatOf = async ({ admin }: Server) => (await admin.post('/api/apps', { type: 'chat_room' })).body.id as string
const say = ({ admin }: Server, app: string) => create(admin, `/api/apps/${app}/messages`, { text: 'hello' })

/** What a receiver computes for itself, as Standard Webhooks has it. */
const standard = ({ headers, body }: Received, secret: string) => {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}
const own = ({ body }: Received, secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

test('a delivery that failed is sent again and succeeds, and both can be seen', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver(answer(500, 'no'))
  const hook = await register(server, receiver.url)
  await say(server, await chatOf(server))
  const [failed] = await attempts(server, hook.id, 1)

  receiver.behaviour = acknowledge
  await server.admin.post(`/api/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`)
  await attempts(server, hook.id, 2)

  const { body } = await server.admin.get('/api/deliveries')
  expect(body.data).toMatchObject([
    { webhook_id: hook.id, event_id: failed.event_id, status: 'success', status_code: '200', attempts: '1' },
    { webhook_id: hook.id, event_id: failed.event_id, status: 'failure', status_code: '500', attempts: '1' },
  ])
})

test('deliveries of all webhooks are found by webhook, status, action, event and time', async () => {
  await using server = await startServer()
  await using good = await startReceiver()
  await using bad = await startReceiver(answer(500))
  const [ok, no] = [await register(server, good.url), await register(server, bad.url)]
  const app = await chatOf(server)
  const message = await say(server, app)
  await server.admin.delete(`/api/messages/${message.id}`)
  await attempts(server, ok.id, 2)
  const [failed] = await attempts(server, no.id, 2)
  const count = async (filter: string) =>
    (await server.admin.get(`/api/deliveries?${filter}&count_only=true`)).body.count

  expect(await count('')).toBe('4')
  expect(await count(`webhook=${ok.id}`)).toBe('2')
  expect(await count('status=failure')).toBe('2')
  expect(await count('action=message_created')).toBe('2')
  expect(await count(`event=${failed.event_id}`)).toBe('2')
  expect(await count('since=2126-01-01T00:00:00Z')).toBe('0')
  expect(await count('until=2126-01-01T00:00:00Z&status=success')).toBe('2')
  expect((await server.admin.get(`/api/webhooks/${no.id}/deliveries?status=success`)).body.count).toBe('0')
  expect((await server.admin.get('/api/deliveries?status=lost')).status).toBe(422)
})

test('a test says at once what comes of it, also of a webhook that is disabled', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  const hook = await register(server, receiver.url, { is_enabled: false, secret: 'shh' })

  const heard = await server.admin.post(`/api/webhooks/${hook.id}/test`)
  receiver.behaviour = answer(404, 'nobody here')
  const unheard = await server.admin.post(`/api/webhooks/${hook.id}/test`)

  expect(heard).toMatchObject({ status: 200, body: { action: 'ping', status: 'success', event_id: '0' } })
  expect(unheard.body).toMatchObject({ status: 'failure', status_code: '404', response: { body: 'nobody here' } })
  const [ping] = await receiver.take(1)
  expect(ping.headers['x-service-trigger']).toBe('ping')
  expect(ping.headers['x-service-delivery']).toBe(heard.body.guid)
  expect(ping.headers['x-service-signature']).toBe(own(ping, 'shh'))
  expect(payloadOf(ping)).toMatchObject({ id: '0', action: 'ping', actor: { id: '0', name: 'System' } })
  expect((await server.admin.get('/api/deliveries?action=ping')).body.count).toBe('2')
  expect((await server.admin.post('/api/webhooks/999/test')).status).toBe(404)
})

test('deliveries carry the headers of Standard Webhooks beside the API’s own', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { secret: 'shh' })
  await register(server, `${receiver.url}/unsigned`)

  await say(server, await chatOf(server))

  const both = await receiver.take(2)
  const signed = both.find(({ path }) => path === '/hook')!
  const unsigned = both.find(({ path }) => path !== '/hook')!
  expect(signed.headers['webhook-id']).toBe(signed.headers['x-service-delivery'])
  expect(Math.abs(Number(signed.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
  expect(signed.headers['webhook-signature']).toBe(standard(signed, 'shh'))
  expect(signed.headers['x-service-signature']).toBe(own(signed, 'shh'))
  expect(unsigned.headers['webhook-id']).toBe(unsigned.headers['x-service-delivery'])
  expect(unsigned.headers['webhook-signature']).toBeUndefined()
})

test.each([[''], [Buffer.alloc(32, 7).toString('base64')]])(
  'a secret that is rotated signs along for a day, with SECRET_KEYS=%s',
  async keys => {
    await using database = await createDatabase()
    await using server = await startServer({ DATABASE_URL: database.url, SECRET_KEYS: keys })
    await using receiver = await startReceiver()
    const hook = await register(server, receiver.url, { secret: 'the old one' })
    const app = await chatOf(server)

    const { status, body } = await server.admin.post(`/api/webhooks/${hook.id}/rotate`)
    await say(server, app)
    const [first] = await receiver.take(1)
    await database.sql`update webhooks set old_secret_until = now() - interval '1 second'`
    await say(server, app)
    const [, second] = await receiver.take(2)

    expect(status).toBe(200)
    expect(body.secret).toMatch(/^whsec_[\w+/]{43}=$/)
    expect(first.headers['x-service-signature']).toBe(own(first, body.secret))
    expect(first.headers['webhook-signature']).toBe(`${standard(first, body.secret)} ${standard(first, 'the old one')}`)
    expect(second!.headers['webhook-signature']).toBe(standard(second!, body.secret))
    expect(JSON.stringify((await server.admin.get(`/api/webhooks/${hook.id}`)).body)).not.toContain('whsec_')
    const [row] = await database.sql<[{ text: string }]>`select w::text as text from webhooks w`
    if (keys !== '') expect(row.text).not.toMatch(/whsec_|the old one/)
  },
)

test('all that failed is sent again at once, in order, and nothing twice', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver(answer(500))
  const hook = await register(server, receiver.url)
  const app = await chatOf(server)
  for (let i = 0; i < 3; i++) await say(server, app)
  const failed = await attempts(server, hook.id, 3)
  receiver.behaviour = acknowledge
  await server.admin.post(`/api/webhooks/${hook.id}/deliveries/${failed[1].id}/redeliver`)
  await attempts(server, hook.id, 4)
  const again = () => server.admin.post(`/api/webhooks/${hook.id}/redeliver`, { status: 'failure' })

  const first = await again()
  await attempts(server, hook.id, 6)
  const second = await again()

  expect(first).toMatchObject({ status: 202, body: { count: '2' } })
  expect(second.body).toEqual({ count: '0' })
  const sent = receiver.requests.slice(4).map(request => payloadOf(request).id)
  expect(sent).toEqual([failed[2].event_id, failed[0].event_id])
  const future = { status: 'failure', since: '2126-01-01T00:00:00Z' }
  expect((await server.admin.post(`/api/webhooks/${hook.id}/redeliver`, future)).body).toEqual({ count: '0' })
  expect((await server.admin.post(`/api/webhooks/${hook.id}/redeliver`, {})).status).toBe(422)
})

test('a webhook says how it fares', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver(answer(500))
  const hook = await register(server, receiver.url)
  const app = await chatOf(server)
  const health = async () => (await server.admin.get(`/api/webhooks/${hook.id}`)).body

  await say(server, app)
  await attempts(server, hook.id, 1)
  expect(await health()).toMatchObject({ queued: '0', failures_24h: '1', failing_since: expect.any(String) })
  receiver.behaviour = acknowledge
  await say(server, app)
  await attempts(server, hook.id, 2)

  const { failing_since, ...healed } = await health()
  expect(failing_since).toBeUndefined()
  expect(healed).toMatchObject({ failures_24h: '1', last_success_at: expect.any(String), retries: '0' })
})

test('a delivery that is attempted again is listed first, with its last attempt, its error and the next one', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver(answer(500))
  const away = await register(server, 'http://127.0.0.1:1/', { retries: 3 })
  const broken = await register(server, receiver.url, { retries: 3 })
  const [one, other] = [await chatOf(server), await chatOf(server)]

  await say(server, one)
  await attempts(server, broken.id, 1)
  receiver.behaviour = acknowledge
  await say(server, other)

  const list = await attempts(server, broken.id, 2)
  const waiting = {
    status: 'queued',
    attempts: '1',
    next_attempt_at: expect.any(String),
    delivered_at: expect.any(String),
  }
  expect(list).toMatchObject([{ ...waiting, status_code: '500' }, { status: 'success' }])
  const [unreached] = await attempts(server, away.id, 2)
  expect(unreached).toMatchObject({ ...waiting, error: expect.stringContaining('ECONNREFUSED') })
  const get = async (path: string) => (await server.admin.get(path)).body
  expect(await get(`/api/webhooks/${away.id}`)).toMatchObject({
    last_attempt_at: expect.any(String),
    last_error: unreached.error,
    next_attempt_at: expect.any(String),
  })
  const all = await get('/api/deliveries')
  expect(all.data.map(({ status }: Body) => status)).toEqual(['queued', 'queued', 'queued', 'success'])
  const ids = (await get(`/api/webhooks/${broken.id}/deliveries?order_by=id+desc`)).data.map(({ id }: Body) =>
    Number(id),
  )
  expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a))
  for (const [status, count] of Object.entries({ queued: 1, success: 1, failure: 0 }))
    expect((await get(`/api/webhooks/${broken.id}/deliveries?status=${status}`)).count).toBe(String(count))
})

test('by default a delivery is attempted once', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver(answer(500))
  const hook = await register(server, receiver.url)

  await say(server, await chatOf(server))

  expect(await attempts(server, hook.id, 1)).toMatchObject([{ status: 'failure', attempts: '1' }])
})

test('with retries a delivery is attempted again, before what follows it in its app, while other apps go on', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver(answer(500))
  const hook = await register(server, receiver.url, { retries: 2 })
  const [failing, other] = [await chatOf(server), await chatOf(server)]
  const queued = async (): Promise<Body[]> =>
    (await server.admin.get(`/api/webhooks/${hook.id}/deliveries?status=queued&order_by=id`)).body.data ?? []

  await say(server, failing)
  const [held] = await eventually(async () => {
    const waiting = await queued()
    expect(waiting).toMatchObject([{ attempts: '1', next_attempt_at: expect.any(String), status_code: '500' }])
    return waiting
  })
  receiver.behaviour = acknowledge
  await say(server, failing)
  await say(server, other)
  const [retried, success] = await attempts(server, hook.id, 2)
  expect([retried.id, success.status]).toEqual([held.id, 'success'])
  expect(await queued()).toHaveLength(2)
  await database.sql`update deliveries set due_at = now() where id = ${held.id}`
  const done = await attempts(server, hook.id, 3)

  const apps = receiver.requests.map(request => payloadOf(request).message.app.id)
  expect(apps).toEqual([failing, other, failing, failing])
  const [first, , second] = receiver.requests
  expect(second!.body).toBe(first!.body)
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(done.find(({ id }) => id === held.id)).toMatchObject({ status: 'success', attempts: '2' })
})

test('after the last of its attempts a delivery has failed for good', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver(answer(503))
  const hook = await register(server, receiver.url, { retries: 1 })

  await say(server, await chatOf(server))
  await receiver.take(1)
  const due = () => database.sql`update deliveries set due_at = now() where due_at is not null returning id`
  await eventually(async () => expect(await due()).toHaveLength(1))

  await eventually(async () =>
    expect(await attempts(server, hook.id, 1)).toMatchObject([
      { status: 'failure', attempts: '2', status_code: '503' },
    ]),
  )
  expect((await server.admin.patch(`/api/webhooks/${hook.id}`, { retries: 13 })).status).toBe(422)
})

test('attempts are ever further apart, up to some hours', () => {
  const seconds = Array.from({ length: 9 }, (_, i) => retryDelayMs(i + 1, 0.5) / 1000)

  expect(seconds).toEqual([5, 20, 80, 320, 1280, 5120, 20_480, 21_600, 21_600])
  expect([retryDelayMs(1, 0), retryDelayMs(1, 1)]).toEqual([4_500, 5_500])
})

test('a webhook with retries that fails for days is disabled and says why; one without is not', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { sql } = database
  const [patient, plain] = [
    await register(server, 'http://127.0.0.1:9/hook', { retries: 3 }),
    await register(server, 'http://127.0.0.1:9/hook'),
  ]
  await sql`update webhooks set failing_since = now() - interval '6 days'`
  const globalCommands = new GlobalCommands(sql, new SharedLog(sql), () => new Date())
  const past = async () => new Date()
  // Of the jobs only one is done, which needs no more.
  const parts = {
    deliverer: null as never,
    registrations: null as never,
    globalCommands,
    sql,
    past,
    log: createLog('error'),
  }
  const job = deliveryJobs(parts).find(({ name }) => name === 'disable failing webhooks')!

  await job.run(new AbortController().signal)

  const show = async ({ id }: Body) => (await server.admin.get(`/api/webhooks/${id}`)).body
  expect(await show(patient)).toMatchObject({
    is_enabled: false,
    disabled_reason: expect.stringMatching(/^No delivery has succeeded since 20/),
  })
  expect(await show(plain)).toMatchObject({ is_enabled: true })
  await server.admin.patch(`/api/webhooks/${patient.id}`, { is_enabled: true })
  const { disabled_reason, failing_since } = await show(patient)
  expect([disabled_reason, failing_since]).toEqual([undefined, undefined])
})
