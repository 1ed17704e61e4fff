import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

const bearer = 'Send the header "Authorization: Bearer <token>", with an access token (wyu_…) or an API key (wys_…).'

test('every refusal says in a sentence what is wrong with the request', async () => {
  await using server = await startServer()
  const { key } = server
  const text = { 'content-type': 'text/plain' }
  const table: [string, string, object, number, string | RegExp][] = [
    ['GET', '/api/users', {}, 401, `No credential was sent. ${bearer}`],
    [
      'GET',
      '/api/users',
      { headers: { authorization: 'Basic YTpi' } },
      401,
      /^The header Authorization has not the form/,
    ],
    ['GET', '/api/users', { token: 'eyJhbGci' }, 401, /^The token in Authorization is none of this server's. Send an/],
    ['GET', '/api/users', { token: 'wyu_nobody-has-it' }, 401, /^The credential is not valid: it is unknown, has/],
    ['POST', '/api/users', { token: 'wyu_nobody-has-it' }, 401, /Send an API key \(wys_…\)\.$/],
    ['GET', '/api/usres', { token: key }, 404, 'There is no address /api/usres here. Did you mean /api/users?'],
    ['GET', '/users', { token: key }, 404, 'There is no address /users here. Did you mean /api/users?'],
    ['GET', '/api/users/', { token: key }, 404, 'There is no address /api/users/ here. Did you mean /api/users?'],
    [
      'GET',
      '/nothing',
      { token: key },
      404,
      'There is no address /nothing here. The addresses are listed in /api/docs.',
    ],
    ['GET', '/api/messages/abc', { token: key }, 404, '"abc" is not an id: ids are whole numbers.'],
    ['GET', '/api/messages/7', { token: key }, 404, 'There is no such resource, or it is not visible to you.'],
    ['PUT', '/api/users', { token: key }, 405, '/api/users takes POST, GET, HEAD or OPTIONS, not PUT.'],
    [
      'POST',
      '/api/users',
      { token: key, body: 'a=b', headers: text },
      415,
      /must be JSON.*The request has .*text\/plain\.$/,
    ],
    ['POST', '/api/auth', { body: `"${'x'.repeat(70_000)}"` }, 413, /^The body is larger than the 64 KiB that this/],
    [
      'POST',
      '/api/users',
      { token: key, body: '{"uid": "a",\n}' },
      400,
      /at line 2, column 1, a name in double quotes is/,
    ],
    [
      'POST',
      '/api/users',
      { token: key, body: "{'uid': 1}" },
      400,
      /at line 1, column 2, a name in double quotes or } is/,
    ],
    [
      'POST',
      '/api/users',
      { token: key, body: '{"uid": "a' },
      400,
      /a double quote that ends the text is expected, not the/,
    ],
    ['POST', '/api/users', { token: key, body: '[]' }, 422, 'The body must be an object.'],
    ['POST', '/api/users', { token: key, body: { name: 5 } }, 422, 'uid is required; name must be text.'],
    ['GET', '/api/users?take=500', { token: key }, 422, 'take must be at most 100.'],
    [
      'GET',
      '/api/users?tkae=5',
      { token: key },
      422,
      /^tkae is not a parameter of this operation: did you mean take\?$/,
    ],
    ['POST', '/api/blobs', { token: key, body: {} }, 422, /^The body is to be a form: .*application\/json\.$/],
  ]
  for (const [method, path, options, status, sentence] of table) {
    const answer = await server.request(method, path, options)

    expect([answer.status, answer.body.detail], `${method} ${path}`).toEqual([
      status,
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    ])
    expect(answer.body).toMatchObject({ status, code: expect.any(String), title: expect.any(String) })
  }
})

test('the challenge says whether a credential was sent, and nothing of why it is not valid', async () => {
  await using server = await startServer()
  const { body: user } = await server.admin.post('/api/users', { uid: 'ann' })
  const { body: revoked } = await server.admin.post(`/api/users/${user.id}/tokens`)
  await server.admin.delete(`/api/users/${user.id}/tokens`)

  const none = await server.request('GET', '/api/users')
  const unknown = await server.request('GET', '/api/users', { token: 'wyu_nobody-has-it' })
  const ended = await server.request('GET', '/api/users', { token: revoked.access_token })

  expect(none.headers.get('www-authenticate')).toBe('Bearer realm="api"')
  expect(unknown.headers.get('www-authenticate')).toBe('Bearer realm="api", error="invalid_token"')
  expect([ended.headers.get('www-authenticate'), ended.body.detail]).toEqual([
    unknown.headers.get('www-authenticate'),
    unknown.body.detail,
  ])
})
