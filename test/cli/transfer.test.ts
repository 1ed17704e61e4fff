import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSql } from '../../src/postgres/sql.ts'
import type { Body, Client } from '../support/client.ts'
import { runAdmin } from '../support/admin.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, launchProgram } from '../support/process.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { countWrong, exported, imported, withoutIds, writeLines, type Line } from '../support/transfer.ts'
import { upload } from '../support/uploads.ts'

const admin = join(import.meta.dirname, '../../src/cli/admin.ts')
const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'

test(
  'members see in an imported workspace what they saw in the one that was exported',
  { timeout: 60_000 },
  async () => {
    await using source = await createDatabase()
    await using target = await createDatabase()
    let before: Body
    {
      await using server = await startServer({ DATABASE_URL: source.url })
      await live(server)
      before = await seenBy(server)
    }

    const lines = await exported(source.url)
    await imported(target.url, lines)

    expect(await countWrong(target.url)).toBe(0)
    expect(withoutIds(await exported(target.url))).toEqual(withoutIds(lines))
    for (const share of [0.2, 0.5, 0.8]) {
      await using interrupted = await createDatabase()
      // Within a blob, it ends with a fault.
      await imported(interrupted.url, lines.slice(0, lines.length * share)).catch(() => {})
      await imported(interrupted.url, lines)
      expect(withoutIds(await exported(interrupted.url))).toEqual(withoutIds(lines))
      expect(await countWrong(interrupted.url)).toBe(0)
    }
    await using server = await startServer({ DATABASE_URL: target.url })
    expect(await seenBy(server)).toEqual(before)
    expect(await ask(target, 'select count(*) as count from events where app_id > 0')).toEqual([{ count: 0 }])
    expect(await ask(target, 'select count(*) as count from notifications')).toEqual([{ count: 0 }])
    expect(before['ann-2'].apps.map(({ kind }: Body) => kind)).toEqual(
      expect.arrayContaining(['chat_room', 'posts', 'files', 'private_chat', 'agent_chat']),
    )
    for (const part of ['"title":"Menu"', '"meeting":{"code":"1"', '"name":"plan.txt"', '"votes":{"count":"1"}'])
      expect(JSON.stringify(before).includes(part), part).toBe(true)
  },
)

test('a second run adds nothing, and a newer file of the same source what is new', async () => {
  await using target = await createDatabase()
  const lines = chat(5)

  expect(await imported(target.url, lines)).toMatchObject({ users: 2, apps: 1, items: 5 })
  expect(await imported(target.url, lines)).toMatchObject({ users: 0, apps: 0, items: 0 })
  expect(await imported(target.url, [...lines, message(5)])).toMatchObject({ users: 0, apps: 0, items: 1 })

  expect(await countWrong(target.url)).toBe(0)
  expect(await textsIn(target)).toEqual(['Number 0', 'Number 1', 'Number 2', 'Number 3', 'Number 4', 'Number 5'])
})

test(
  'an import that was killed in the middle and run again comes out as one that was not',
  { timeout: 90_000 },
  async () => {
    await using killed = await createDatabase()
    await using whole = await createDatabase()
    await using dir = createDirectory()
    const file = join(dir.path, 'chat.ndjson')
    const lines = chat(9_000)
    writeLines(file, lines)
    const command = [process.execPath, '--disable-warning=ExperimentalWarning', admin, 'import', file]

    {
      await using program = launchProgram(dir, { DATABASE_URL: killed.url }, { command })
      const some = async () => expect((await textsIn(killed)).length).toBeGreaterThan(0)
      await eventually(some, { timeoutMs: 60_000 })
      process.kill(program.pid, 'SIGKILL')
      await program.ended
    }
    const { length: left } = await textsIn(killed)
    await imported(killed.url, lines)
    await imported(whole.url, lines)

    expect(left).toBeLessThan(9_000)
    expect(await textsIn(killed)).toEqual(await textsIn(whole))
    expect(await countersOf(killed)).toEqual(await countersOf(whole))
    expect(await countWrong(killed.url)).toBe(0)
  },
)

test('apps stand in the order of what was last written in them, whatever the order of the file', async () => {
  await using target = await createDatabase()
  const lines = chat(1)
  const app = { type: 'app', id: 'a', kind: 'chat_room', uid: 'chat', name: 'Chat', created_at: '2020-01-01T00:00:00Z' }
  const names = ['a', 'older', 'oldest', 'newest']
  const apps = names.slice(1).map(id => ({ ...app, id, uid: id }))
  const times = { older: '2020-02-02T00:00:00Z', oldest: '2020-01-01T00:00:00Z', newest: '2030-01-01T00:00:00Z' }
  const items = Object.entries(times).map(([id, created_at]) => ({
    ...message(9),
    id: `in ${id}`,
    app: id,
    created_at,
  }))
  const members = names.map(id => ({ type: 'member', app: id, user: 'ann', access: 'write' }))

  await imported(target.url, [...lines, ...apps, ...items, ...members] as Line[])

  await using server = await startServer({ DATABASE_URL: target.url })
  const { body } = await server.admin.get('/api/apps?order_by=rev+desc')
  expect(body.data.map(({ uid }: Body) => uid)).toEqual(['newest', 'chat', 'older', 'oldest'])
  expect(await countWrong(target.url)).toBe(0)
})

test('what is imported goes on: new messages come after it, and count with it', async () => {
  await using target = await createDatabase()
  await imported(target.url, [...chat(1_500), { type: 'member', app: 'a', user: 'ben', access: 'write', marked: '7' }])

  await using server = await startServer({ DATABASE_URL: target.url })
  const token = (await server.admin.post('/api/users/ben/tokens')).body.access_token
  const ben = { ...(await server.request('GET', '/api/apps/chat', { token })).body }
  await server.request('POST', '/api/apps/chat/messages', { token, body: { text: 'New' } })
  const { body: last } = await server.admin.get('/api/apps/chat/messages?order_by=id+desc&take=2')
  const { body: found } = await server.admin.get('/api/apps/chat/messages?q=1234')

  expect(ben).toMatchObject({ name: 'Chat', is_unread: true })
  expect(last.data.map(({ text }: Body) => text)).toEqual(['New', 'Number 1498'])
  expect(last.count).toBe('1471')
  expect(found.data.map(({ text }: Body) => text)).toEqual(['Number 1234'])
  expect(await countWrong(target.url)).toBe(0)
})

const header = { type: 'header', format: 'parley', version: 1, source: 'test' }

test.each([
  ['Line 1: It must be the header.', [{ type: 'user', id: 'ann' }]],
  ['Line 2: uid must not contain whitespace', [header, { type: 'user', id: 'ann', uid: 'a nn' }]],
  ['Line 6: created_at Invalid ISO datetime.', [...chat(1), { ...message(1), created_at: 'today' }]],
  ['Line 6: There is no user with the id kim before it.', [...chat(1), { ...message(1), created_by: 'kim' }]],
  ['Line 6: created_at is before that of an item', [...chat(1), { ...message(1), created_at: '2019-01-01T00:00:00Z' }]],
  ['Line 6: A post cannot be in an app of type chat_room.', [...chat(1), { ...message(1), type: 'post' }]],
  ['Line 5: size is 9, but 3 bytes follow.', [...chat(0), blob('abc', 9), bytes('abc')]],
  ['Line 2: type Invalid discriminator value', [header, { type: 'secret' }]],
])('%s', async (sentence, lines) => {
  await using target = await createDatabase()

  await expect(imported(target.url, lines)).rejects.toThrow(sentence)

  expect(await textsIn(target)).toEqual([])
})

test('a dry run says what would be added, and adds nothing', async () => {
  await using target = await createDatabase()
  const lines = [...chat(3), blob('abc', 3), bytes('abc')]

  expect(await imported(target.url, lines, true)).toMatchObject({ users: 2, apps: 1, items: 3 })

  expect(await textsIn(target)).toEqual([])
  expect(await ask(target, 'select count(*) as count from users where id > 0')).toEqual([{ count: 0 }])
})

test('users and apps that are there stay as they are, and items are not put before those of others', async () => {
  await using target = await createDatabase()
  {
    await using server = await startServer({ DATABASE_URL: target.url })
    await server.admin.post('/api/users', { uid: 'ann', name: 'Ann from here' })
    const { body: app } = await server.admin.post('/api/apps', { type: 'chat_room', uid: 'chat', name: 'Ours' })
    await expect(imported(target.url, chat(1))).rejects.toThrow('Nodes are running')
    await server.admin.patch(`/api/apps/${app.id}`, { name: 'Still ours' })
  }

  expect(await imported(target.url, chat(1))).toEqual({ users: 1, apps: 0, items: 1 })
  expect(await ask(target, "select name from users where uid = 'ann'")).toEqual([{ name: 'Ann from here' }])
  expect(await ask(target, 'select name from apps')).toEqual([{ name: 'Still ours' }])
  const other = [{ ...header, source: 'another' }, ...chat(1).slice(1)]
  await expect(imported(target.url, other)).rejects.toThrow('there are items in it already')
})

test('a client that knows the app from before the import loads it again, and nothing old is told', async () => {
  await using target = await createDatabase()
  let token = ''
  let place: object = {}
  {
    await using server = await startServer({ DATABASE_URL: target.url })
    await server.admin.post('/api/users', { uid: 'ben', name: 'Ben' })
    token = (await server.admin.post('/api/users/ben/tokens')).body.access_token
    const { body: app } = await server.admin.post('/api/apps', { type: 'chat_room', uid: 'chat', members: ['ben'] })
    await using before = await listen(server.url, { token })
    place = { type: 'subscribe', app_id: app.id, after: (await before.subscribe(app.id)).rev }
  }

  await imported(target.url, chat(3))

  await using server = await startServer({ DATABASE_URL: target.url })
  await using after = await listen(server.url, { token })
  after.say(place)
  await after.hear('reset')
  await server.admin.post('/api/apps/chat/messages', { text: 'New' })
  const heard = await after.hearUntil('event', ({ event }) => event === 'message_created')
  expect(heard.filter(({ type }) => type === 'event')).toMatchObject([{ message: { text: 'New' } }])
  expect((await server.request('GET', '/api/notifications', { token })).body.data ?? []).toEqual([])
})

test('an export of one app has its users and nothing of others; one of a user what the user wrote and did', async () => {
  await using source = await createDatabase()
  await using target = await createDatabase()
  await using server = await startServer({ DATABASE_URL: source.url })
  await live(server)

  const news = await exported(source.url, { app: 'news' })
  const ben = await exported(source.url, { user: 'ben-3' })

  const of = (lines: Line[], type: string) => lines.filter(line => line.type === type)
  expect(of(news, 'app').map(({ uid }) => uid)).toEqual(['news'])
  expect(of(news, 'user').map(({ uid }) => uid)).toEqual(expect.arrayContaining(['ann-2', 'ben-3']))
  expect(of(news, 'user').map(({ uid }) => uid)).not.toContain('kim')
  await imported(target.url, news)
  expect(await countWrong(target.url)).toBe(0)
  expect(of(ben, 'user').map(({ uid }) => uid)).toEqual(['ben-3'])
  expect(of(ben, 'message').map(({ text }) => text)).toEqual([
    ...['No typo', 'Not this', 'With a meeting', 'elsewhere', 'To myself'],
  ])
  expect(of(ben, 'follow')).toHaveLength(2)
  expect(of(ben, 'comment').map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  expect(of(ben, 'file').map(({ name }) => name)).toEqual(['soup.svg'])
  expect(of(ben, 'reaction')).toHaveLength(1)
  expect(of(ben, 'vote')).toHaveLength(1)
  expect(JSON.stringify(ben)).not.toContain('Hello')
})

test('the file in the documentation is a whole one', async () => {
  await using target = await createDatabase()
  const page = readFileSync(join(import.meta.dirname, '../../docs/moving-data.md'), 'utf8')
  const [, file = ''] = /```ndjson\n([^]*?)```/.exec(page) ?? []

  const lines = file
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as object)
  expect(await imported(target.url, lines)).toEqual({ users: 2, apps: 1, items: 3 })

  expect(await countWrong(target.url)).toBe(0)
  await using server = await startServer({ DATABASE_URL: target.url })
  const { body } = await server.admin.get('/api/apps/general/messages?out=details&order_by=id')
  expect(body.data).toMatchObject([
    { html: expect.stringContaining('wy-mention'), reactions: { count: '1' } },
    {
      options: { data: [{ text: 'yes', votes: { count: '1' } }, { text: 'no' }] },
      attachments: { data: [{ name: 'menu.txt' }] },
    },
  ])
})

test('the commands write and read a file, say what they did, and write over none', { timeout: 60_000 }, async () => {
  await using source = await createDatabase()
  await using target = await createDatabase()
  await using dir = createDirectory()
  const file = join(dir.path, 'all.ndjson')
  await imported(source.url, chat(3))
  const run = (database: Database, ...args: string[]) => runAdmin(dir, { DATABASE_URL: database.url }, ...args)

  expect(await run(source, 'export', file)).toEqual({ code: 0, output: `${file} holds 7 lines\n` })
  expect(await run(source, 'export', file)).toMatchObject({
    code: 1,
    output: expect.stringContaining('is there already'),
  })
  expect(await run(source, 'export', '--user', 'kim', '-')).toEqual({ code: 1, output: 'There is no user kim.\n' })
  const added = 'add 2 users, 1 apps and 3 items\n'
  expect(await run(target, 'import', '--dry-run', file)).toEqual({ code: 0, output: `Would ${added}` })
  expect(await run(target, 'import', file)).toMatchObject({ code: 0, output: `Added ${added.slice(4)}` })
  expect(await run(target, 'import', '--from', 'slak', file)).toMatchObject({
    code: 1,
    output: expect.stringContaining('slack'),
  })

  expect(await textsIn(target)).toEqual(['Number 0', 'Number 1', 'Number 2'])
})

/** A chat with two people and so many messages, as lines of a file. */
function chat(count: number): object[] {
  return [
    header,
    { type: 'user', id: 'ann', uid: 'ann', name: 'Ann' },
    { type: 'user', id: 'ben', uid: 'ben', name: 'Ben' },
    { type: 'app', id: 'a', kind: 'chat_room', uid: 'chat', name: 'Chat', created_at: '2020-01-01T00:00:00Z' },
    ...Array.from({ length: count }, (_, number) => message(number)),
  ]
}

function message(number: number): object {
  const created_at = new Date(1_600_000_000_000 + number * 1000).toISOString()
  const created_by = number % 3 === 0 ? 'ben' : 'ann'
  const trashed = number % 50 === 49 && { trashed_at: created_at }
  return { type: 'message', id: String(number), app: 'a', text: `Number ${number}`, created_at, created_by, ...trashed }
}

function blob(content: string, size: number): object {
  return {
    type: 'blob',
    id: content,
    name: 'a.txt',
    media_type: 'text/plain',
    size,
    created_at: '2020-01-01T00:00:00Z',
    created_by: 'ann',
  }
}

function bytes(content: string): object {
  return { type: 'bytes', data: Buffer.from(content).toString('base64') }
}

async function textsIn(database: Database): Promise<string[]> {
  const rows = await ask<{ text: string }>(database, 'select text from messages order by id')
  return rows.map(({ text }) => text)
}

/** What is derived of the one app, with positions instead of ids. */
const countersOf = (database: Database) =>
  ask(
    database,
    `select item_count, trashed_count, made_count, (select count(*) from messages where id <= last_id) as last,
      (select count(*) from messages where id <= prior_id) as prior, head_at,
      (select array_agg(trashed_count order by first_id) from blocks) as blocks,
      (select count(*) from messages_terms) as terms
    from apps`,
  )

/** Asks under a name that is not a node's: an import refuses to run beside one. */
async function ask<Row extends object>({ url }: Database, query: string): Promise<Row[]> {
  const sql = openSql({ url, connections: 1, statementTimeoutMs: 5_000, applicationName: 'test' })
  try {
    return [...(await sql.unsafe<Row[]>(query))]
  } finally {
    await sql.end()
  }
}

/** A workspace in which people did something of everything. */
async function live(server: Server): Promise<void> {
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people.map(succeeding) as [Person, Person]
  const admin = succeeding(server.admin)
  await admin.post('/api/directories', { name: 'acme' })
  await admin.post('/api/users', {
    uid: 'kim',
    name: 'Kim',
    directories: ['acme'],
    metadata: { desk: 7 },
    tags: ['new'],
  })
  await admin.patch(`/api/users/${ann.id}`, {
    picture: (await upload(ann, { name: 'a.svg', content: picture })).body.id,
  })
  const say = async (by: Client, text: string, more: object = {}) =>
    (await by.post(`/api/apps/${app}/messages`, { text, ...more })).body
  const first = await say(ann, 'Hello **all**')
  await say(ann, `Look, [Ben](@u${ben.id}) and [Kim](@kim)`, { metadata: { mood: 'good' }, tags: ['a', 'b'] })
  const edited = await say(ben, 'Typo')
  await ben.patch(`/api/messages/${edited.id}`, { text: 'No typo' })
  const gone = await say(ben, 'Not this')
  await ben.post(`/api/messages/${gone.id}/trash`)
  const blob = await upload(ann, { name: 'plan.txt', content: 'soup '.repeat(100_000) })
  await say(ann, 'With a file', { blobs: [blob.body.id] })
  const link = { type: 'link', title: 'Menu', url: 'https://example.com/menu', actions: ['Open'] }
  await say(ann, 'With a link', { embed_id: (await ann.post('/api/embeds', link)).body.id })
  const meeting = { join_url: 'https://meet.example/1', provider_id: '1' }
  await say(ben, 'With a meeting', { meeting_id: (await ben.post('/api/meetings', meeting)).body.id })
  await ben.post(`/api/messages/${first.id}/reactions`, { content: '👍' })
  await ben.put(`/api/apps/${app}/mark?message_id=${first.id}`)
  await ben.post(`/api/messages/${first.id}/stars`)
  await ben.put(`/api/apps/${app}/pin`)
  const late = await upload(ann, { name: 'late.txt', content: 'late' })
  await ann.patch(`/api/messages/${first.id}`, { blobs: [late.body.id] })
  for (let i = 0; i < 5; i++) await say(ann, `Number ${i}`)

  const members = [ann.uid, ben.uid]
  const feed = (await admin.post('/api/apps', { type: 'posts', uid: 'news', name: 'News', members })).body.id
  const poll = { text: 'Lunch?', options: [{ text: 'yes' }, { text: 'no' }] }
  const post = (await ann.post(`/api/apps/${feed}/posts`, poll)).body
  await ben.post(`/api/options/${post.options.data[1].id}/vote`)
  for (const text of ['one', 'two']) await ben.post(`/api/posts/${post.id}/comments`, { text })
  const other = (await ann.post(`/api/apps/${feed}/posts`, { text: 'Old' })).body
  await ben.post(`/api/posts/${other.id}/comments`, { text: 'three' })
  await ann.post(`/api/posts/${other.id}/trash`)

  const files = (
    await admin.post('/api/apps', { type: 'files', uid: 'drive', members, directory: 'acme', access: 'read' })
  ).body.id
  const soup = await upload(ben, { name: 'soup.svg', content: picture })
  const file = (await ben.post(`/api/apps/${files}/files`, { blob_id: soup.body.id })).body
  await ann.post(`/api/files/${file.id}/comments`, { text: 'Nice' })
  const better = await upload(ben, { name: 'soup.svg', content: picture.replace('9', '8') })
  await ben.patch(`/api/files/${file.id}`, { blob_id: better.body.id, backup: true })
  const removed = (await ann.post(`/api/apps/${feed}/posts`, { text: 'Gone' })).body
  await ben.post(`/api/posts/${removed.id}/comments`, { text: 'gone as well' })
  await ann.delete(`/api/posts/${removed.id}`)
  await ann.post('/api/apps', { type: 'private_chat', members: [ben.uid] })
  for (const leaver of [await server.person('Leaver'), await server.person('Leaver')]) {
    const { id } = (await ben.post('/api/apps', { type: 'private_chat', members: [leaver.uid] })).body
    await succeeding(leaver).post(`/api/apps/${id}/messages`, { text: 'Bye' })
    await admin.delete(`/api/users/${leaver.id}`)
  }
  await admin.post('/api/agents', { uid: 'bot', name: 'Bot', provider: 'builtin', model: 'echo', instructions: 'Help' })
  await ann.post('/api/apps', { type: 'agent_chat', uid: 'help', members: ['bot'] })

  await ann.post(`/api/users/${ben.id}/follow`)
  await ben.post(`/api/users/${ann.id}/follow`)
  await admin.patch(`/api/apps/${app}`, {
    picture: (await upload(ann, { name: 'b.svg', content: picture })).body.id,
    metadata: { deep: [1, 2.5e-7, null, { no: false, '': '' }], big: 2 ** 53, none: {}, empty: [] },
  })
  const drawn = { provider: 'Draw', name: 'sketch', size: 7, link: 'https://draw.example/1', width: 8, raw: { a: [1] } }
  const sketch = (await ann.post('/api/blobs/external', drawn)).body
  await say(ann, 'With a link to a file', { blobs: [sketch.id], options: [{ text: 'a' }, { text: 'b' }] })
  const notes = (await admin.post('/api/apps', { type: 'comments', uid: 'notes', members })).body.id
  await ann.post(`/api/apps/${notes}/comments`, { text: 'On its own', metadata: { of: 'comments' } })
  const [moved] = [await server.person('Moved away')].map(succeeding)
  await admin.put(`/api/apps/${app}/members/${moved!.id}`, { access: 'write' })
  await say(moved!, 'I was here')
  await ann.post(`/api/posts/${post.id}/unsubscribe`)
  await ben.post(`/api/apps/${app}/stars`)
  await ben.post(`/api/apps/${feed}/unsubscribe`)
  await admin.post(`/api/users/${moved!.id}/trash`)
  const self = (await ben.post('/api/apps', { type: 'private_chat', members: [ben.uid] })).body.id
  await say(ben, 'elsewhere')
  await ben.post(`/api/apps/${self}/messages`, { text: 'To myself' })
  await ben.put(`/api/apps/${self}/archive`)
  const old = (await admin.post('/api/apps', { type: 'chat', uid: 'old', name: 'Old', members })).body.id
  await ann.post(`/api/apps/${old}/messages`, { text: 'Over' })
  await admin.post(`/api/apps/${old}/trash`)
}

/** Fails where a call does. */
function succeeding<Caller extends Client>(by: Caller): Caller {
  const checked = (name: 'get' | 'post' | 'put' | 'patch') => async (path: string, body?: unknown) => {
    const answer = await by[name](path, body as never)
    expect(answer, `${path} ${JSON.stringify(answer.body)}`).toMatchObject({
      status: expect.toSatisfy(status => status < 300),
    })
    return answer
  }
  return { ...by, post: checked('post'), put: checked('put'), patch: checked('patch') }
}

/** What each person sees, without what differs between deployments: ids, revs, and links. */
async function seenBy(server: Server): Promise<Body> {
  const { body: users } = await server.admin.get('/api/users?out=details&take=100')
  const seen: Body = {}
  for (const { uid, id, ...rest } of users.data) {
    const token = (await server.admin.post(`/api/users/${id}/tokens`)).body.access_token
    const get = async (path: string) => (await server.request('GET', path, { token })).body
    const { data: apps = [] } = await get('/api/apps?out=details&order_by=id&take=100')
    const contents = []
    for (const app of apps) {
      const items: Body = { members: await get(`/api/apps/${app.id}/members?out=details`) }
      for (const noun of ['messages', 'posts', 'comments', 'files']) {
        const list = await get(`/api/apps/${app.id}/${noun}?out=details&trashed=null&order_by=id&take=100`)
        items[noun] = list
        for (const item of list.data ?? [])
          if (noun === 'posts' || noun === 'files')
            (items[`comments on ${noun}`] ??= []).push(await get(`/api/${noun}/${item.id}/comments?out=details`))
      }
      contents.push(items)
    }
    const stars = await get('/api/stars?out=details')
    seen[uid] = { user: rest, apps, contents, stars }
  }
  return comparable(seen)
}

function comparable(value: Body): Body {
  if (typeof value === 'string') return value.replace(/@u\d+/g, '@u').replace(/data-eid="u\d+"/g, 'data-eid')
  if (Array.isArray(value)) return value.map(comparable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, member]) =>
          !/(^|_)(id|rev|url)$|^(start|end|presence|instance)$/.test(name) && !/^https?:.*\/api\//.test(String(member)),
      )
      .map(([name, member]) => [name, comparable(member)]),
  )
}
