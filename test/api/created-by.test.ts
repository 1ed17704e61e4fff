import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

async function startWithTwoAuthors() {
  const server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: other } = await ann.post('/api/apps', { type: 'chat', members: [ben.uid] })
  for (let i = 0; i < 6; i++) {
    await ann.post(`/api/apps/${i < 3 ? app : other.id}/messages`, { text: `ann ${i}` })
    await ben.post(`/api/apps/${app}/messages`, { text: `ben ${i}` })
  }
  return { server, app, other: other.id as string, ann, ben }
}

const textsIn = (body: { data?: { text: string }[] }) => (body.data ?? []).map(({ text }) => text)

test('messages by one user are listed, counted and paged, in all apps and in one', async () => {
  const { server, app, ann, ben } = await startWithTwoAuthors()
  await using _ = server

  const byUid = await ben.get(`/api/messages?created_by=${ann.uid}&order_by=id+desc&take=4`)
  const rest = await server.admin.get(`/api/messages?created_by=${ann.id}&order_by=id+desc&skip=4`)
  const inApp = await ben.get(`/api/apps/${app}/messages?created_by=${ann.id}&order_by=id`)
  const counted = await ben.get(`/api/messages?created_by=${ann.uid}&count_only=true`)
  const searched = await ben.get(`/api/messages?created_by=${ann.uid}&q=ben`)

  expect(textsIn(byUid.body)).toEqual(['ann 5', 'ann 4', 'ann 3', 'ann 2'])
  expect([byUid.body.count, textsIn(rest.body)]).toEqual(['6', ['ann 1', 'ann 0']])
  expect(textsIn(inApp.body)).toEqual(['ann 0', 'ann 1', 'ann 2'])
  expect(counted.body).toEqual({ count: '6' })
  expect(searched.body.count).toBe('0')
})

test('nothing is by a user whom there is not, and what the caller may not see stays unseen', async () => {
  const { server, ann } = await startWithTwoAuthors()
  await using _ = server
  const stranger = await server.person('Eve')

  expect((await ann.get('/api/messages?created_by=nobody-has-this')).body.count).toBe('0')
  expect((await stranger.get(`/api/messages?created_by=${ann.uid}`)).body.count).toBe('0')
})

test('posts, comments and files are listed by their authors too', async () => {
  const { server, ann, ben } = await startWithTwoAuthors()
  await using _ = server
  const make = async (type: string) => (await ann.post('/api/apps', { type, access: 'write' })).body.id as string
  const [feed, folder] = [await make('posts'), await make('files')]
  const { body: post } = await ann.post(`/api/apps/${feed}/posts`, { text: 'by ann' })
  await ben.post(`/api/apps/${feed}/posts`, { text: 'by ben' })
  await ben.post(`/api/posts/${post.id}/comments`, { text: 'on it' })
  await ann.post(`/api/posts/${post.id}/comments`, { text: 'thanks' })
  for (const [person, name] of [
    [ann, 'a.txt'],
    [ben, 'b.txt'],
  ] as const)
    await person.post(`/api/apps/${folder}/files`, { blob_id: (await upload(person, { name, content: name })).body.id })

  const countOf = async (path: string) => (await ann.get(`${path}created_by=${ben.uid}`)).body.count

  expect(await countOf('/api/posts?')).toBe('1')
  expect(await countOf('/api/comments?')).toBe('1')
  expect(await countOf(`/api/posts/${post.id}/comments?`)).toBe('1')
  expect(await countOf('/api/files?')).toBe('1')
  expect(await countOf(`/api/apps/${folder}/files?order_by=name&`)).toBe('1')
})

test('authors come with out=details', async () => {
  const { server, ann } = await startWithTwoAuthors()
  await using _ = server

  const { body } = await ann.get(`/api/messages?created_by=${ann.uid}&out=details`)

  expect(body.data[0].created_by).toMatchObject({ id: ann.id, uid: ann.uid })
})

test('an app shows the name of its type beside the guid, in lists, in what is in it, and alone', async () => {
  const { server, app, ann } = await startWithTwoAuthors()
  await using _ = server

  const alone = await ann.get(`/api/apps/${app}`)
  const list = await ann.get('/api/apps')
  const items = await ann.get('/api/messages?out=details')

  for (const shown of [alone.body, ...list.body.data, ...items.body.data.map(({ app }: { app: object }) => app)])
    expect(shown).toMatchObject({ type: expect.stringMatching(/^[0-9a-f-]{36}$/), kind: expect.stringMatching(/chat/) })
})
