import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type Person, type Server } from '../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

interface Hit {
  type: string
  id: string
  name?: string
  snippet: { text: string; marks?: { start: string; end: string }[] }
  app?: { id: string }
  created_by?: { id: string }
}

type Searching = Pick<Person, 'get'>

async function search(by: Searching, query: Record<string, string | string[]>): Promise<Hit[]> {
  const { status, body } = await by.get(toPath(query))
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data ?? []
}

function toPath(query: Record<string, string | string[]>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map(one => [name, one]))
  return `/api/search?${new URLSearchParams(pairs)}`
}

/** All pages, one after the other. */
async function searchAll(by: Searching, query: Record<string, string | string[]>): Promise<Hit[]> {
  const hits: Hit[] = []
  for (let cursor: string | undefined, page = 0; page < 100; page++) {
    const { body } = await by.get(toPath({ ...query, ...(cursor !== undefined && { cursor }) }))
    hits.push(...(body.data ?? []))
    cursor = body.cursor
    if (cursor === undefined) return hits
  }
  throw new Error('There is no last page')
}

const marked = ({ snippet: { text, marks = [] } }: Hit) =>
  marks.map(({ start, end }) => text.slice(Number(start), Number(end)))

async function makeApp(type: string, more: object = {}): Promise<string> {
  return (await server.admin.post('/api/apps', { type, ...more })).body.id
}

async function addBlob(by: Pick<Person, 'request'>, name: string, text: string): Promise<string> {
  const form = new FormData()
  form.set('blob', new File([text], name))
  return (await by.request('POST', '/api/blobs', { body: form })).body.id
}

test('one search finds messages, posts, comments, files, people and apps, with where each is and by whom', async () => {
  const ann = await server.person('Ann Quince')
  const chat = await makeApp('chat_room', { name: 'Quince room', members: [ann.id] })
  const feed = await makeApp('posts', { members: [ann.id] })
  const folder = await makeApp('files', { members: [ann.id] })
  const message = (await ann.post(`/api/apps/${chat}/messages`, { text: 'a **quince** jam' })).body.id
  const post = (await ann.post(`/api/apps/${feed}/posts`, { text: 'quinces!' })).body.id
  const comment = (await ann.post(`/api/posts/${post}/comments`, { text: 'my quince' })).body.id
  const blob = await addBlob(ann, 'Quince.txt', 'fruit')
  const file = (await ann.post(`/api/apps/${folder}/files`, { blob_id: blob })).body.id

  const hits = await search(ann, { q: 'quince' })

  expect(hits.map(({ type, id, app, created_by }) => [type, id, app?.id, created_by?.id]).toSorted()).toEqual(
    [
      ['message', message, chat, ann.id],
      ['post', post, feed, ann.id],
      ['comment', comment, feed, ann.id],
      ['file', file, folder, ann.id],
      ['user', ann.id, undefined, ann.id],
      ['app', chat, chat, undefined],
    ].toSorted(),
  )
  expect(hits.map(marked)).toEqual(
    hits.map(({ type }) => [type === 'post' ? 'quinces' : expect.stringMatching(/^quince$/i)]),
  )
  expect((await search(ann, { q: 'quince', in: ['files', 'people'] })).map(({ type }) => type).toSorted()).toEqual([
    'file',
    'user',
  ])
})

describe('words', () => {
  let ann: Person
  let app: string
  const find = async (q: string) => (await search(ann, { q, in: 'messages' })).map(hit => hit.snippet.text)
  const texts = [
    'The Garden gate',
    'gate of the garden',
    'Übergrößen für Łódź',
    '今日は東京で会議',
    'v1.2 is out',
    'a <b>bold</b> "gate"',
  ]
  beforeAll(async () => {
    ;({
      app,
      people: [ann],
    } = await server.chatWith(1))
    for (const text of texts) await ann.post(`/api/apps/${app}/messages`, { text })
  })

  test('are beginnings of words, in any order, whatever their case', async () => {
    expect((await find('GATE gard')).toSorted()).toEqual(['The Garden gate', 'gate of the garden'])
    expect(await find('arden')).toEqual([])
  })
  test('stand as they are written within quotation marks', async () => {
    expect(await find('"garden gate"')).toEqual(['The Garden gate'])
    expect(await find('“gate of the”')).toEqual(['gate of the garden'])
    expect(await find('"gard"')).toEqual([])
  })
  test('are found without their accents, and marked with them', async () => {
    const [hit] = await search(ann, { q: 'ubergrossen lodz' })
    expect(marked(hit!)).toEqual(['Übergrößen', 'Łódź'])
  })
  test('are found within scripts that put nothing between them', async () => {
    const [hit] = await search(ann, { q: '東京' })
    expect(marked(hit!)).toEqual(['東京'])
    expect(await find('京東')).toEqual([])
  })
  test('with symbols are found as a whole', async () => {
    expect(await find('v1.2')).toEqual(['v1.2 is out'])
    expect(await find('v1-2')).toEqual([])
  })
  test('are shown as plain text, in which a mark of HTML means nothing', async () => {
    const hits = await search(ann, { q: 'bold' })
    expect(hits.map(({ snippet }) => snippet.text)).toEqual(['a <b>bold</b> "gate"'])
    expect(hits.map(marked)).toEqual([['bold']])
  })
  test('are marked in a long text where they are', async () => {
    const text = `${'lorem ipsum '.repeat(200)}needle${' dolor sit'.repeat(200)}`
    await ann.post(`/api/apps/${app}/messages`, { text })
    const [hit] = await search(ann, { q: 'needl' })
    expect(marked(hit!)).toEqual(['needle'])
    expect(hit!.snippet.text.length).toBeLessThan(260)
  })
})

test('who may not read something does not find it, nor anybody what is in the trash', async () => {
  const [member, directoryMember, stranger, removed, hiding] = await Promise.all(
    ['Member', 'Inside', 'Outside', 'Removed', 'Hiding'].map(name => server.person(name)),
  )
  await server.admin.post('/api/directories', { name: 'orchard' })
  await server.admin.put(`/api/directories/orchard/members/${directoryMember!.id}`)
  const secret = await makeApp('chat_room', { name: 'walnut', members: [member!.id, removed!.id, hiding!.id] })
  const open = await makeApp('chat', { name: 'walnut open', access: 'read', directory: 'orchard' })
  const trashed = await makeApp('chat_room', { name: 'walnut gone', members: [member!.id] })
  const feed = await makeApp('posts', { members: [member!.id] })
  const write = async (app: string, kind: string, text: string) =>
    (await server.admin.post(`/api/apps/${app}/${kind}`, { text })).body.id
  const inSecret = await write(secret, 'messages', 'walnut')
  const inOpen = await write(open, 'messages', 'walnut')
  await write(trashed, 'messages', 'walnut')
  const post = await write(feed, 'posts', 'walnut')
  await server.admin.post(`/api/posts/${post}/comments`, { text: 'walnut' })
  const binned = await write(secret, 'messages', 'walnut in the bin')
  await server.admin.post(`/api/messages/${binned}/trash`)
  await server.admin.post(`/api/posts/${post}/trash`)
  await server.admin.post(`/api/apps/${trashed}/trash`)
  await server.admin.delete(`/api/apps/${secret}/members/${removed!.id}`)
  await hiding!.delete(`/api/apps/${secret}/members/${hiding!.id}`)

  const findsOf = async (by: Searching) =>
    (await searchAll(by, { q: 'walnut', order: 'newest' })).map(({ type, id }) => `${type} ${id}`).toSorted()

  const all = { secret: [`app ${secret}`, `message ${inSecret}`], open: [`app ${open}`, `message ${inOpen}`] }
  expect(await findsOf(member!)).toEqual(all.secret.toSorted())
  expect(await findsOf(directoryMember!)).toEqual(all.open.toSorted())
  expect(await findsOf(stranger!)).toEqual([])
  expect(await findsOf(removed!)).toEqual([])
  expect(await findsOf(server.admin)).toEqual([...all.secret, ...all.open].toSorted())
})

test('what was written just now is found by the next request, and what was edited by its new words alone', async () => {
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  for (let n = 0; n < 20; n++) {
    const { id } = (await ann.post(`/api/apps/${app}/messages`, { text: `zebra${n}` })).body
    expect((await search(ann, { q: `zebra${n}` })).map(hit => hit.id)).toEqual([id])
    await ann.patch(`/api/messages/${id}`, { text: `okapi${n}` })
    expect(await search(ann, { q: `zebra${n}` })).toEqual([])
    expect((await search(server.admin, { q: `okapi${n}` })).map(hit => hit.id)).toEqual([id])
  }
})

test('finds are narrowed by app, author, time and by what an item has', async () => {
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const other = await makeApp('chat_room', { members: [ann.id] })
  const send = async (by: Person, text: string, to = app, more = {}) =>
    (await by.post(`/api/apps/${to}/messages`, { text, ...more })).body.id
  const plain = await send(ann, 'plum')
  const byBen = await send(ben, 'plum')
  const linked = await send(ann, 'plum https://plums.example')
  const poll = await send(ann, 'plum?', app, { options: [{ text: 'yes' }, { text: 'no' }] })
  const file = await send(ann, 'plum file', app, { blobs: [await addBlob(ann, 'x.txt', 'x')] })
  const elsewhere = await send(ann, 'plum', other)
  const find = async (query: Record<string, string | string[]>) =>
    (await searchAll(ann, { q: 'plum', order: 'newest', ...query })).map(({ id }) => id)

  expect(await find({})).toEqual([elsewhere, file, poll, linked, byBen, plain])
  expect(await find({ by: ben.uid })).toEqual([byBen])
  expect(await find({ app: other })).toEqual([elsewhere])
  expect(await find({ has: 'link' })).toEqual([linked])
  expect(await find({ has: 'poll' })).toEqual([poll])
  expect(await find({ has: 'file' })).toEqual([file])
  expect(await find({ has: ['file', 'poll'] })).toEqual([])
  expect(await find({ from: '2100-01-01T00:00:00Z' })).toEqual([])
  expect(await find({ to: '2100-01-01T00:00:00Z' })).toHaveLength(6)
  expect(await find({ to: '2001-01-01T00:00:00Z' })).toEqual([])
})

test('attachments are found by their names for as long as what they are on is visible, and by nobody else', async () => {
  const { app, people, stranger } = await server.chatWith(2)
  const [ann, ben] = people
  const feed = await makeApp('posts', { members: [ann.id] })
  const blob = async (name: string) => ({ blobs: [await addBlob(ann, name, 'x')] })
  const message = (
    await ann.post(`/api/apps/${app}/messages`, { text: 'here', ...(await blob('quarterly Äpfel.pdf')) })
  ).body
  const post = (await ann.post(`/api/apps/${feed}/posts`, { text: 'there', ...(await blob('quarterly.png')) })).body
  const comment = (
    await ann.post(`/api/posts/${post.id}/comments`, { text: 'too', ...(await blob('quarterly 東京.md')) })
  ).body
  const find = async (by: Searching, query: Record<string, string | string[]> = {}) =>
    (await searchAll(by, { q: 'quarterly', in: 'files', ...query })).map(({ name }) => name).toSorted()
  const all = ['quarterly 東京.md', 'quarterly.png', 'quarterly Äpfel.pdf'].toSorted()

  expect(await find(ann)).toEqual(all)
  expect(await find(server.admin, { app: [app, feed] })).toEqual(all)
  expect(await find(ben)).toEqual(['quarterly Äpfel.pdf'])
  expect(await find(stranger)).toEqual([])
  expect(await find(ann, { q: 'apfel' })).toEqual(['quarterly Äpfel.pdf'])
  expect(await find(ann, { q: '京' })).toEqual(['quarterly 東京.md'])
  expect(await find(ann, { by: ben.id })).toEqual([])
  const [hit] = await searchAll(ann, { q: 'apfel' })
  expect(hit).toMatchObject({ type: 'file', parent: { id: message.id, type: 'message' }, app: { id: app } })
  expect(marked(hit!)).toEqual(['Äpfel'])

  await ann.post(`/api/posts/${post.id}/trash`)
  expect(await find(ann)).toEqual(['quarterly Äpfel.pdf'])
  await ann.post(`/api/posts/${post.id}/restore`)
  await ann.post(`/api/comments/${comment.id}/trash`)
  await ann.post(`/api/messages/${message.id}/trash`)
  expect(await find(ann)).toEqual(['quarterly.png'])
  expect(await find(server.admin, { app: [app, feed] })).toEqual(['quarterly.png'])
})

test('pages follow each other without a gap or a repetition, while more is written', async () => {
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const ids: string[] = []
  for (let n = 0; n < 11; n++)
    ids.push((await ann.post(`/api/apps/${app}/messages`, { text: `fig ${'x '.repeat(n)}` })).body.id)
  for (const order of ['newest', 'relevance']) {
    const first = (await ann.get(toPath({ q: 'fig', order, take: '4' }))).body
    await ann.post(`/api/apps/${app}/messages`, { text: 'fig' })
    const second = (await ann.get(toPath({ q: 'fig', order, take: '4', cursor: first.cursor }))).body
    const third = (await ann.get(toPath({ q: 'fig', order, take: '4', cursor: second.cursor }))).body
    const seen = [first, second, third].flatMap(({ data }) => data.map(({ id }: Hit) => id))
    expect(third.cursor === undefined || order === 'relevance').toBe(true)
    expect(new Set(seen).size).toBe(seen.length)
    expect(ids.filter(id => !seen.includes(id))).toEqual([])
  }
})

test('the shortest text with a whole word comes first by relevance', async () => {
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const send = async (text: string) => (await ann.post(`/api/apps/${app}/messages`, { text })).body.id
  const whole = await send('a medlar')
  const long = await send(`a medlar ${'and other fruit '.repeat(30)}`)
  const beginning = await send('medlars')
  expect((await search(ann, { q: 'medlar' })).map(({ id }) => id)).toEqual([whole, beginning, long])
})

test('a question that is not one is refused with the field', async () => {
  const ann = await server.person()
  const errorsOf = async (path: string) => Object.keys((await ann.get(path)).body.errors ?? {})
  expect(await errorsOf('/api/search')).toEqual(['q'])
  expect(await errorsOf('/api/search?q=a&in=walls')).toEqual(['in.0'])
  expect(await errorsOf('/api/search?q=a&take=101')).toEqual(['take'])
  expect(await errorsOf('/api/search?q=a&from=yesterday')).toEqual(['from'])
  expect(await errorsOf('/api/search?q=a&cursor=bm90aGluZw')).toEqual(['cursor'])
})

test('a search finds what a look at everything finds, whatever is written and asked', async () => {
  const words = ['ada', 'adamant', 'Bär', 'bar', 'Ünder', 'under', '東京', '東', 'v1.2', "can't", 'x']
  const people = await Promise.all(['P', 'Q', 'R'].map(name => server.person(name)))
  const sets = [[0, 1], [1, 2], [0], [0, 1, 2]]
  const rooms = await Promise.all(sets.map(set => makeApp('chat_room', { members: set.map(n => people[n]!.id) })))
  const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 })
  const written: { kind: string; id: string; room: number; by: number; words: string[] }[] = []
  for (const [n, room, by, name] of fc.sample(
    fc.tuple(text, fc.nat(3), fc.nat(2), fc.option(text, { freq: 1 })),
    120,
  )) {
    const author = sets[room]!.includes(by) ? by : sets[room]![0]!
    const writer = people[author]!
    const blobs = name === null ? [] : [await addBlob(writer, name.join(' '), 'x')]
    const { body } = await writer.post(`/api/apps/${rooms[room]}/messages`, { text: n.join(' '), blobs })
    written.push({ kind: 'messages', id: body.id, room, by: author, words: n })
    if (name !== null) written.push({ kind: 'files', id: body.attachments.data[0].id, room, by: author, words: name })
  }
  const fold = (s: string) => s.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const partsOf = (s: string) => fold(s).match(/\p{sc=Han}|[^\p{sc=Han}\s.']+/gu) ?? []
  const hasWord = (all: string[], asked: string) =>
    all.some(own => (/\p{sc=Han}/u.test(asked) ? fold(own).includes(fold(asked)) : isBegun(fold(own), fold(asked))))
  const isBegun = (own: string, asked: string) =>
    own.startsWith(asked) || (!/[.']/.test(asked) && own.split(/[.']/).some(part => part.startsWith(asked)))
  const hasPhrase = (all: string[], phrase: string[]) =>
    `|${all.flatMap(partsOf).join('|')}|`.includes(`|${phrase.flatMap(partsOf).join('|')}|`)

  await fc.assert(
    fc.asyncProperty(
      fc.record({
        who: fc.nat(2),
        kind: fc.constantFrom('messages', 'files'),
        asked: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 2 }),
        isPhrase: fc.boolean(),
        by: fc.option(fc.nat(2)),
        room: fc.option(fc.nat(3)),
        take: fc.constantFrom('1', '3', '100'),
        order: fc.constantFrom('newest', 'relevance'),
      }),
      async ({ who, kind, asked, isPhrase, by, room, take, order }) => {
        const expected = written
          .filter(item => item.kind === kind && sets[item.room]!.includes(who) && (by === null || item.by === by))
          .filter(item => room === null || item.room === room)
          .filter(({ words: all }) => (isPhrase ? hasPhrase(all, asked) : asked.every(one => hasWord(all, one))))
          .map(({ id }) => id)
          .toReversed()
        const q = isPhrase ? `"${asked.join(' ')}"` : asked.join(' ')
        const query = {
          ...{ q, in: kind, take, order },
          ...(by !== null && { by: people[by]!.id }),
          ...(room !== null && { app: rooms[room]! }),
        }
        const found = (await searchAll(people[who]!, query)).map(({ id }) => id)
        expect(order === 'newest' ? found : found.toSorted()).toEqual(
          order === 'newest' ? expected : expected.toSorted(),
        )
      },
    ),
    { numRuns: 100 },
  )
}, 120_000)
