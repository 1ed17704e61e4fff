import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route, type Method } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'

/** Answers with its own template and what the names in it stood for. */
const echo = (method: Method, path: string) =>
  route(`${method} ${path}`, {
    summary: path,
    auth: 'none',
    params: z.record(z.string(), z.string()),
    replies: { 200: z.object({}) },
    handle: ({ params }) => reply(200, { path, params }),
  })

const routes = [
  echo('GET', '/api/apps'),
  echo('POST', '/api/apps'),
  echo('GET', '/api/apps/{app}'),
  echo('PUT', '/api/apps/{uid}'),
  echo('GET', '/api/apps/{app}/members/{user}'),
  echo('GET', '/api/apps/new'),
  echo('GET', '/api/apps/new/{hint}/text'),
]

test('a path leads to the route whose template it fits', async () => {
  await using edge = await startEdge(routes)

  const member = await edge.get('/api/apps/12/members/ann')

  expect(member.body).toEqual({ path: '/api/apps/{app}/members/{user}', params: { app: '12', user: 'ann' } })
})

test('routes of different methods may name the same segment differently', async () => {
  await using edge = await startEdge(routes)

  const [read, written] = [await edge.get('/api/apps/x'), await edge.put('/api/apps/x')]

  expect(read.body.params).toEqual({ app: 'x' })
  expect(written.body.params).toEqual({ uid: 'x' })
})

test('a fixed segment goes before a name, and a name is tried where the fixed one leads nowhere', async () => {
  await using edge = await startEdge(routes)

  expect((await edge.get('/api/apps/new')).body.path).toBe('/api/apps/new')
  expect((await edge.put('/api/apps/new')).body.path).toBe('/api/apps/{uid}')
  expect((await edge.get('/api/apps/new/members/ann')).body).toEqual({
    path: '/api/apps/{app}/members/{user}',
    params: { app: 'new', user: 'ann' },
  })
})

test('values in a path are percent-decoded, also an encoded slash', async () => {
  await using edge = await startEdge(routes)

  const { body } = await edge.get('/api/apps/caf%C3%A9%2F1+1')

  expect(body.params).toEqual({ app: 'café/1+1' })
})

test.each(['//', '/nowhere', '/api', '/api/apps/', '/api/apps//members/ann', '/api/apps/12/members', '/API/apps'])(
  '%s names nothing and is 404',
  async path => {
    await using edge = await startEdge(routes)

    const { status, body } = await edge.get(path)

    expect({ status, ...body }).toMatchObject({ status: 404, title: 'Not Found', code: 'not-found', instance: path })
  },
)

test.each(['/api/apps/%', '/api/apps/%zz', '/api/apps/%ff', '/api/apps/%00', '/api/apps/a%00b'])(
  '%s cannot be a name of anything and is 404',
  async path => {
    await using edge = await startEdge(routes)

    expect((await edge.get(path)).status).toBe(404)
  },
)

test('a method that the path does not have is 405 and says which it has', async () => {
  await using edge = await startEdge(routes)

  const { status, body, headers } = await edge.delete('/api/apps/12')

  expect({ status, title: body.title }).toEqual({ status: 405, title: 'Method Not Allowed' })
  expect(headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'OPTIONS', 'PUT'])
})

test('HEAD is answered like GET, without the body', async () => {
  await using edge = await startEdge(routes)

  const [head, got] = [await edge.request('HEAD', '/api/apps/12'), await edge.get('/api/apps/12')]

  expect(head.status).toBe(200)
  expect(head.body).toBeUndefined()
  expect(head.headers.get('content-length')).toBe(got.headers.get('content-length'))
  expect((await edge.request('HEAD', '/nowhere')).status).toBe(404)
})

test('one route cannot be declared twice', async () => {
  const twice = [echo('GET', '/api/apps/{app}'), echo('GET', '/api/apps/{other}')]

  await expect(startEdge(twice)).rejects.toThrow('GET /api/apps/{other} was declared twice')
})

test('values that the schema of a path refuses name nothing', async () => {
  const byNumber = route('GET /api/posts/{id}', {
    summary: 'A post',
    auth: 'none',
    params: z.object({ id: z.string().regex(/^\d+$/) }),
    replies: { 200: z.object({}) },
    handle: ({ params }) => reply(200, params),
  })
  await using edge = await startEdge([byNumber])

  expect((await edge.get('/api/posts/12')).status).toBe(200)
  expect((await edge.get('/api/posts/twelve')).status).toBe(404)
})
