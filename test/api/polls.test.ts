import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

const texts = (...options: string[]) => options.map(text => ({ text }))

/** A poll in a chat, and the ids of its options. */
async function ask(who: Person, app: string, ...options: string[]): Promise<{ id: string; options: string[] }> {
  const { id, options: made } = await create(who, `/api/apps/${app}/messages`, { options: texts(...options) })
  return { id, options: made.data.map((option: Body) => option.id) }
}

/** Votes and own vote of each option, as the item shows them. */
async function tally(who: Person, path: string): Promise<[string, boolean][]> {
  const { options } = (await who.get(`/api/${path}`)).body
  return options.data.map(({ votes, has_voted }: Body) => [votes.count, has_voted])
}

test('a poll comes with its item, in the order in which it was asked', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const made = await ann.post(`/api/apps/${app}/messages`, { text: 'Lunch?', options: texts('Soup', ' Salad ') })

  expect(made.status).toBe(201)
  expect(made.body.options).toMatchObject({ start: '0', end: '2', count: '2' })
  expect(made.body.options.data).toMatchObject([
    { text: 'Soup', has_voted: false, votes: { count: '0' } },
    { text: 'Salad', has_voted: false, votes: { count: '0' } },
  ])
  const path = `/api/messages/${made.body.id}`
  expect((await ben.get(path)).body.options).toEqual(made.body.options)
  expect((await ben.get(`${path}/options?out=details`)).body).toEqual(made.body.options)
  expect((await ben.get(`${path}/options?skip=1&take=1`)).body).toMatchObject({ start: '1', end: '2', count: '2' })
  expect((await ben.get(`/api/apps/${app}/messages?out=details`)).body.data[0].options).toEqual(made.body.options)
  expect((await ben.get(`/api/apps/${app}/messages`)).body.data[0]).not.toHaveProperty('options')
})

test('a vote is given, moved, and withdrawn, and everybody hears of it', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const {
    id,
    options: [soup, salad],
  } = await ask(ann, app, 'Soup', 'Salad')
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)
  const tallies = []

  const given = await ben.post(`/api/options/${soup}/vote`)
  tallies.push(await tally(ben, `messages/${id}`))
  const moved = await ben.post(`/api/options/${salad}/vote`)
  tallies.push(await tally(ben, `messages/${id}`))
  const withdrawn = await ben.post(`/api/options/${salad}/vote`)
  tallies.push(await tally(ben, `messages/${id}`))
  const heard = await inbox.take(4)

  expect(tallies).toEqual([
    [
      ['1', true],
      ['0', false],
    ],
    [
      ['0', false],
      ['1', true],
    ],
    [
      ['0', false],
      ['0', false],
    ],
  ])
  expect(given.body).toMatchObject({
    id: soup,
    text: 'Soup',
    has_voted: true,
    votes: { count: '1', data: [{ id: ben.id }] },
  })
  expect(moved.body).toMatchObject({ id: salad, has_voted: true, votes: { count: '1' } })
  expect(withdrawn.body).toMatchObject({ id: salad, has_voted: false, votes: { count: '0' } })
  expect(heard.map(({ event, option }) => [event, option.id, option.votes.count])).toEqual([
    ['vote_added', soup, '1'],
    ['vote_removed', soup, '0'],
    ['vote_added', salad, '1'],
    ['vote_removed', salad, '0'],
  ])
  expect(heard[0]).toMatchObject({
    poll: { id, type: 'message', app: { id: app } },
    option: { text: 'Soup' },
    actor: { id: ben.id },
  })
})

test('an option by itself names its voters in voting order', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben, eve],
  } = await server.chatWith(3)
  const {
    options: [soup, salad],
  } = await ask(ann, app, 'Soup', 'Salad')
  for (const one of [eve, ann, ben]) await one.post(`/api/options/${soup}/vote`)
  await eve.post(`/api/options/${salad}/vote`)
  await eve.post(`/api/options/${soup}/vote`)

  const { body } = await ann.get(`/api/options/${soup}`)
  const { body: ofKey } = await server.admin.get(`/api/options/${soup}`)

  expect(body).toMatchObject({ id: soup, text: 'Soup', has_voted: true, votes: { start: '0', end: '3', count: '3' } })
  expect(body.votes.data.map(({ id }: Body) => id)).toEqual([ann.id, ben.id, eve.id])
  expect(body.votes.data[0]).toMatchObject({ name: 'Ann', uid: ann.uid })
  expect(ofKey.has_voted).toBe(false)
})

test('votes that are cast at once all count, each once', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 12 }, () => server.person()))
  const app = await appOf(server, 'posts', people)
  const post = await create(people[0]!, `/api/apps/${app}/posts`, { text: 'Which?', options: texts('A', 'B') })
  const [a, b] = post.options.data

  await Promise.all(
    people.flatMap(one => [one.post(`/api/options/${a.id}/vote`), one.post(`/api/options/${b.id}/vote`)]),
  )

  const counts = (await tally(people[0]!, `posts/${post.id}`)).map(([count]) => Number(count))
  expect(counts[0]! + counts[1]!).toBe(people.length)
  for (const [i, option] of [a, b].entries()) {
    expect((await people[0]!.get(`/api/options/${option.id}`)).body.votes.data ?? []).toHaveLength(counts[i]!)
  }
})

test('an edit keeps, renames, adds, moves and removes options', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Which?', options: texts('A', 'B', 'C') })
  const [a, b, c] = post.options.data
  await ann.post(`/api/options/${a.id}/vote`)
  await ben.post(`/api/options/${c.id}/vote`)

  const untouched = await ann.patch(`/api/posts/${post.id}`, { text: 'Which one?' })
  const edited = await ann.patch(`/api/posts/${post.id}`, {
    options: [
      { id: Number(c.id), text: 'Sea' },
      { id: null, text: 'New' },
      { id: b.id, text: 'B' },
    ],
  })

  expect(untouched.body.options.data.map(({ votes }: Body) => votes.count)).toEqual(['1', '0', '1'])
  expect(edited.body.options.data).toMatchObject([
    { id: c.id, text: 'Sea', votes: { count: '1' } },
    { text: 'New', votes: { count: '0' } },
    { id: b.id, text: 'B' },
  ])
  expect((await ann.get(`/api/posts/${post.id}`)).body.options).toEqual(edited.body.options)
  expect((await ann.get(`/api/options/${a.id}`)).status).toBe(404)
  const again = await ann.post(`/api/options/${b.id}/vote`)
  expect(again.body).toMatchObject({ has_voted: true, votes: { count: '1' } })
})

test('an empty list removes the poll, unless nothing else is left', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const bare = await ask(ann, app, 'A', 'B')
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Hi', options: texts('A') })

  const refused = await ann.patch(`/api/messages/${bare.id}`, { options: [] })
  const removed = await ann.patch(`/api/messages/${id}`, { options: [] })
  const bereft = await ann.patch(`/api/messages/${id}`, { text: '' })
  const renewed = await ann.patch(`/api/messages/${id}`, { text: null, options: texts('B') })

  expect([refused.status, removed.status, bereft.status, renewed.status]).toEqual([422, 200, 422, 200])
  expect(removed.body.options).toEqual({ start: '0', end: '0', count: '0' })
  expect((await ann.get(`/api/messages/${id}/options`)).body.count).toBe('1')
  expect((await ann.get(`/api/messages/${bare.id}/options`)).body.count).toBe('2')
})

test('what is not a poll is refused with the field that is wrong', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const one = await ask(ann, app, 'A')
  const other = await ask(ann, app, 'B')
  const path = `/api/apps/${app}/messages`
  const edit = (options: unknown) => ann.patch(`/api/messages/${one.id}`, { options })

  const refused = [
    await ann.post(path, { options: [] }),
    await ann.post(path, { text: 'Hi', options: texts(' ') }),
    await ann.post(path, { text: 'Hi', options: [{}] }),
    await ann.post(path, { text: 'Hi', options: texts('x'.repeat(257)) }),
    await ann.post(path, { text: 'Hi', options: Array.from({ length: 51 }, () => ({ text: 'A' })) }),
    await edit([{ id: other.options[0], text: 'B' }]),
    await edit([
      { id: one.options[0], text: 'A' },
      { id: one.options[0], text: 'A' },
    ]),
    await edit([{ id: 'x', text: 'A' }]),
  ]
  const most = await ann.post(path, { options: Array.from({ length: 50 }, (_, i) => ({ text: `${i}` })) })

  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 422))
  expect(refused.map(({ body }) => Object.keys(body.errors ?? {})[0]).slice(1)).toEqual(
    expect.arrayContaining([expect.stringContaining('options')]),
  )
  expect(most.status).toBe(201)
  expect(most.body.options.count).toBe('50')
})

test('voting needs write access, a user, and an item that is there', async () => {
  await using server = await startServer()
  const [ann, reader, stranger] = [await server.person(), await server.person(), await server.person()]
  const app = await appOf(server, 'posts', [ann])
  await server.admin.put(`/api/apps/${app}/members/${reader.id}`, { access: 'read' })
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Which?', options: texts('A') })
  const option = post.options.data[0].id
  const vote = async (who: { post: Person['post'] }, id = option) => (await who.post(`/api/options/${id}/vote`)).status

  const statuses = [await vote(reader), await vote(stranger), await vote(server.admin), await vote(ann, '999999')]
  await ann.post(`/api/posts/${post.id}/trash`)
  const inTrash = [await vote(ann), (await ann.get(`/api/options/${option}`)).status]

  expect(statuses).toEqual([403, 404, 403, 404])
  expect(inTrash).toEqual([404, 404])
  await ann.post(`/api/posts/${post.id}/restore`)
  expect((await reader.get(`/api/options/${option}`)).body.votes).toEqual({ start: '0', end: '0', count: '0' })
})

test('comments can ask as well', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'Hi' })
  const comment = await create(ann, `/api/posts/${post.id}/comments`, { options: texts('A', 'B') })

  await ann.post(`/api/options/${comment.options.data[1].id}/vote`)

  expect(await tally(ann, `comments/${comment.id}`)).toEqual([
    ['0', false],
    ['1', true],
  ])
  expect((await ann.get(`/api/comments/${comment.id}/options`)).body.data[1].has_voted).toBe(true)
})
