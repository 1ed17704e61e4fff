import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { register } from '../support/webhooks.ts'

test('a webhook can be registered, read, listed, changed and deleted, and its secret is never shown', async () => {
  await using server = await startServer()
  const { admin } = server
  const input = { payload_url: 'https://example.com/hook', triggers: ['messages', 'apps'], secret: 'hush' }

  const created = await admin.post('/api/webhooks', input)
  const { id } = created.body
  const read = await admin.get(`/api/webhooks/${id}`)
  const listed = await admin.get('/api/webhooks')
  const changed = await admin.patch(`/api/webhooks/${id}`, { triggers: ['posts'], is_enabled: false })
  const deleted = await admin.delete(`/api/webhooks/${id}`)
  const gone = await admin.get(`/api/webhooks/${id}`)

  const shown = { id, payload_url: input.payload_url, triggers: ['messages', 'apps'], is_enabled: true }
  expect(created).toMatchObject({ status: 201, body: shown })
  expect(created.body).not.toHaveProperty('secret')
  expect(read).toMatchObject({ status: 200, body: shown })
  expect(read.body).not.toHaveProperty('secret')
  expect(listed).toMatchObject({ status: 200, body: { data: [shown], start: '0', end: '1', count: '1' } })
  expect(changed).toMatchObject({ status: 200, body: { ...shown, triggers: ['posts'], is_enabled: false } })
  expect(deleted.status).toBe(204)
  expect(gone.status).toBe(404)
})

test('both spellings of enabled are understood on both calls', async () => {
  await using server = await startServer()
  const { admin } = server

  const first = await register(server, 'http://127.0.0.1:1/', { enabled: false })
  const second = await register(server, 'http://127.0.0.1:1/', { is_enabled: false })
  const on = await admin.patch(`/api/webhooks/${first.id}`, { enabled: true })

  expect(first.is_enabled).toBe(false)
  expect(second.is_enabled).toBe(false)
  expect(on.body.is_enabled).toBe(true)
})

const url = 'https://example.com'
const triggers = ['messages']

test.each([
  ['nothing', {}, ['payload_url', 'triggers']],
  ['no triggers', { payload_url: url }, ['triggers']],
  ['an empty list of triggers', { payload_url: url, triggers: [] }, ['triggers']],
  ['a trigger outside a list', { payload_url: url, triggers: 'messages' }, ['triggers']],
  ['null for triggers', { payload_url: url, triggers: null }, ['triggers']],
  ['an unknown trigger', { payload_url: url, triggers: ['messages', 'conversations'] }, ['triggers.1']],
  ['another scheme', { payload_url: 'ftp://example.com', triggers }, ['payload_url']],
  ['a script', { payload_url: 'javascript:alert(1)', triggers }, ['payload_url']],
  ['a path', { payload_url: '/hook', triggers }, ['payload_url']],
  ['a bare host', { payload_url: 'example.com', triggers }, ['payload_url']],
  ['a URL without a host', { payload_url: 'https://', triggers }, ['payload_url']],
  ['a URL with a space', { payload_url: 'https://exa mple.com', triggers }, ['payload_url']],
  ['null for the URL', { payload_url: null, triggers }, ['payload_url']],
  ['a number for the URL', { payload_url: 7, triggers }, ['payload_url']],
  ['too long a URL', { payload_url: `${url}/${'x'.repeat(2048)}`, triggers }, ['payload_url']],
  ['too long a secret', { payload_url: url, triggers, secret: 'x'.repeat(257) }, ['secret']],
  ['a number for the secret', { payload_url: url, triggers, secret: 7 }, ['secret']],
  ['a word for enabled', { payload_url: url, triggers, enabled: 'yes' }, ['enabled']],
])('%s is refused, and the fields are named', async (_name, input, fields) => {
  await using server = await startServer()

  const { status, body } = await server.admin.post('/api/webhooks', input)

  expect(status).toBe(422)
  expect(Object.keys(body.errors)).toEqual(fields)
})

test('all eight triggers can be chosen, and one that is named twice counts once', async () => {
  await using server = await startServer()
  const triggers = ['apps', 'comments', 'files', 'messages', 'notifications', 'polls', 'posts', 'reactions']

  const webhook = await register(server, 'http://127.0.0.1:1/', { triggers: [...triggers, 'apps'] })

  expect(webhook.triggers).toEqual(triggers)
})

test('webhooks are for API keys: a token is refused, and nobody is asked to identify', async () => {
  await using server = await startServer()
  const { id } = await register(server, 'http://127.0.0.1:1/')
  const ann = await server.person('Ann')
  const guid = '6f0f1b0e-5f0a-4b7c-9f62-1d5a0c1d2e3f'

  const calls = [
    ['POST', '/api/webhooks'],
    ['GET', '/api/webhooks'],
    ['GET', `/api/webhooks/${id}`],
    ['PATCH', `/api/webhooks/${id}`],
    ['DELETE', `/api/webhooks/${id}`],
    ['GET', `/api/webhooks/${id}/deliveries`],
    ['GET', `/api/webhooks/${id}/deliveries/${guid}`],
    ['POST', `/api/webhooks/${id}/deliveries/${guid}/redeliver`],
  ] as const
  const byToken = await Promise.all(calls.map(([method, path]) => ann.request(method, path)))
  const byNobody = await Promise.all(calls.map(([method, path]) => server.request(method, path)))

  expect(byToken.map(({ status }) => status)).toEqual(calls.map(() => 403))
  expect(byNobody.map(({ status }) => status)).toEqual(calls.map(() => 401))
})

test('what does not exist is not found', async () => {
  await using server = await startServer()
  const { admin } = server
  const { id } = await register(server, 'http://127.0.0.1:1/')
  const guid = '6f0f1b0e-5f0a-4b7c-9f62-1d5a0c1d2e3f'

  const answers = await Promise.all([
    admin.get('/api/webhooks/999999'),
    admin.get('/api/webhooks/first'),
    admin.patch('/api/webhooks/999999', {}),
    admin.delete('/api/webhooks/999999'),
    admin.get('/api/webhooks/999999/deliveries'),
    admin.get(`/api/webhooks/${id}/deliveries/999999`),
    admin.get(`/api/webhooks/${id}/deliveries/${guid}`),
    admin.get(`/api/webhooks/${id}/deliveries/last`),
    admin.post(`/api/webhooks/${id}/deliveries/999999/redeliver`),
    admin.post(`/api/webhooks/${id}/deliveries/${guid}/redeliver`),
    admin.post(`/api/webhooks/999999/deliveries/${guid}/redeliver`),
  ])

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
})

test('the list of webhooks is searched by URL, sorted and paged', async () => {
  await using server = await startServer()
  const { admin } = server
  for (const name of ['one', 'two', 'three']) await register(server, `https://${name}.example.com/Hook_%25`)

  const byName = await admin.get('/api/webhooks?q=TWO.example')
  const literal = await admin.get('/api/webhooks?q=hook_%25')
  const page = await admin.get('/api/webhooks?order_by=id+desc&skip=1&take=1')
  const count = await admin.get('/api/webhooks?count_only=true')
  const wrong = await admin.get('/api/webhooks?order_by=secret')

  expect(byName.body).toMatchObject({ count: '1', data: [{ payload_url: 'https://two.example.com/Hook_%25' }] })
  expect(literal.body.count).toBe('3')
  expect(page.body).toMatchObject({
    start: '1',
    end: '2',
    count: '3',
    data: [{ payload_url: 'https://two.example.com/Hook_%25' }],
  })
  expect(count.body).toEqual({ count: '3' })
  expect(wrong.status).toBe(422)
})

test('an Idempotency-Key keeps a repeated registration from making a second webhook', async () => {
  await using server = await startServer()
  const input = { payload_url: 'https://example.com', triggers: ['apps'], secret: 'hush' }

  const first = await server.admin.post('/api/webhooks', input, { 'idempotency-key': 'once' })
  const second = await server.admin.post('/api/webhooks', input, { 'idempotency-key': 'once' })

  expect(second).toMatchObject({ status: 201, body: first.body })
  expect((await server.admin.get('/api/webhooks')).body.count).toBe('1')
})
