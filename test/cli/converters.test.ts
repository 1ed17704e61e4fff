import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { converters } from '../../src/cli/transfer/from/converters.ts'
import { toMarkdown } from '../../src/cli/transfer/from/mrkdwn.ts'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { createDirectory } from '../support/process.ts'
import { startServer } from '../support/server.ts'
import { countWrong, imported } from '../support/transfer.ts'

/** The files of an export of Slack, by their names. */
const slack: Record<string, unknown> = {
  'users.json': [
    {
      id: 'U01ANN',
      team_id: 'T1',
      name: 'ann',
      real_name: 'Ann A',
      deleted: false,
      profile: { display_name: 'annie', email: 'ann@example.com' },
    },
    { id: 'U02BEN', team_id: 'T1', name: 'ben', deleted: true, updated: 1600000000, profile: { real_name: 'Ben B' } },
  ],
  'channels.json': [
    {
      ...{ id: 'C01GEN', name: 'general', created: 1500000000, creator: 'U01ANN', is_archived: false },
      members: ['U01ANN', 'U02BEN'],
      purpose: { value: 'For everyone', creator: 'U01ANN', last_set: 1500000000 },
    },
  ],
  'dms.json': [{ id: 'D01', created: 1500000001, members: ['U01ANN', 'U02BEN'] }],
  'general/2020-09-13.json': [
    {
      type: 'message',
      subtype: 'channel_join',
      user: 'U02BEN',
      text: '<@U02BEN> has joined the channel',
      ts: '1600000000.000100',
    },
    {
      ...{
        type: 'message',
        user: 'U01ANN',
        text: 'Hi *all*, <@U02BEN> &amp; <https://example.com/a|friends>',
        ts: '1600000001.000200',
      },
      ...{ thread_ts: '1600000001.000200', reply_count: 1, edited: { user: 'U01ANN', ts: '1600000009.000000' } },
      reactions: [
        { name: '+1', users: ['U02BEN'], count: 1 },
        { name: 'company-logo', users: ['U02BEN'], count: 1 },
      ],
    },
  ],
  'general/2020-09-14.json': [
    { type: 'message', user: 'U02BEN', text: 'Hello :wave:', ts: '1600080001.000200', thread_ts: '1600000001.000200' },
    {
      ...{
        type: 'message',
        subtype: 'bot_message',
        bot_id: 'B01',
        username: 'Deploys',
        text: 'Done',
        ts: '1600080000.000100',
      },
      files: [
        {
          id: 'F1',
          name: 'log.txt',
          mimetype: 'text/plain',
          size: 12,
          permalink: 'https://team.slack.com/files/F1/log.txt',
        },
      ],
    },
  ],
  'D01/2020-09-14.json': [{ type: 'message', user: 'U01ANN', text: 'Psst', ts: '1600080002.000000' }],
}

test('an export of Slack becomes chats with authors, times, threads, reactions and links to files', async () => {
  await using target = await createDatabase()
  await using dir = createDirectory()
  for (const [name, value] of Object.entries(slack)) {
    mkdirSync(dirname(join(dir.path, 'export', name)), { recursive: true })
    writeFileSync(join(dir.path, 'export', name), JSON.stringify(value))
  }
  const zip = join(dir.path, 'export.zip')
  writeFileSync(
    zip,
    zipSync(
      Object.fromEntries(Object.entries(slack).map(([name, value]) => [name, Buffer.from(JSON.stringify(value))])),
    ),
  )

  const lines = await collect(converters.slack!(join(dir.path, 'export')))
  expect(await collect(converters.slack!(zip))).toEqual(lines)
  await imported(target.url, lines)

  expect(await countWrong(target.url)).toBe(0)
  await using server = await startServer({ DATABASE_URL: target.url })
  const { body: general } = await server.admin.get('/api/apps/C01GEN?out=details')
  const messages = await listMessages(server.admin.get, 'C01GEN')
  expect(general).toMatchObject({ kind: 'chat', name: 'general', description: 'For everyone', members: { count: '1' } })
  expect(messages).toMatchObject([
    {
      text: expect.stringMatching(/^Hi \*\*all\*\*, \[Ben B\]\(@u\d+\) & \[friends\]\(https:\/\/example\.com\/a\)$/),
      created_at: '2020-09-13T12:26:41Z',
      created_by: { name: 'Ann A' },
      updated_at: '2020-09-13T12:26:49Z',
    },
    { text: 'Done', created_by: { name: 'Deploys' }, attachments: { data: [{ name: 'log.txt' }] } },
    { text: expect.stringMatching(/^> Ann A: Hi \*\*all\*\*.*\n\nHello 👋$/s), created_by: { name: 'Ben B' } },
  ])
  expect(messages[0].html).toContain('wy-mention')
  expect(messages[0].reactions).toMatchObject({ count: '1', data: [{ content: '👍', created_by: { name: 'Ben B' } }] })
  const { body: apps } = await server.admin.get('/api/apps?out=details')
  expect(apps.data).toHaveLength(2)
  expect(await listMessages(server.admin.get, 'D01')).toMatchObject([{ text: 'Psst' }])
})

test('the mrkdwn of Slack becomes Markdown', () => {
  const names: Record<string, string> = { U1: 'Ann [ops]' }
  const to = (text: string) => toMarkdown(text, id => names[id] ?? id)

  expect(to('*b* _i_ ~s~ 2*3*4 a~b')).toBe('**b** _i_ ~~s~~ 2*3*4 a~b')
  expect(to('<@U1> <#C1|general> <!here> <!subteam^S1|@team> <https://a.example/x_(y)|here>')).toBe(
    '[Ann \\[ops\\]](@user-U1) #general @here @team [here](https://a.example/x_%28y%29)',
  )
  expect(to('<@U0123456>')).toBe('[U0123456](@user-U0123456)')
  expect(to('`*a* &lt;b&gt;` 1 &lt; 2')).toBe('`*a* <b>` 1 < 2')
  expect(to('```a\n*b*```')).toBe('\n```\na\n*b*\n```\n')
  expect(to(':tada: :no_such_emoji: 10:30:00 :wave::skin-tone-3:')).toBe('🎉 :no_such_emoji: 10:30:00 👋🏼')
})

const person = { id: 'ann', name: 'Ann', role: 'user' }
const place = { channel_type: 'messaging', channel_id: 'hq' }
const said = {
  ...{
    id: 'm1',
    text: 'Hi @Ben',
    user: person,
    created_at: '2024-05-01T10:00:00.123456Z',
    updated_at: '2024-05-01T10:00:00.123456Z',
  },
}

test.each([
  [
    'entities, a line for each',
    [
      { type: 'user', item: { id: 'ben', name: 'Ben' } },
      {
        type: 'channel',
        item: { id: 'hq', type: 'messaging', name: 'HQ', created_by: 'ann', created_at: '2024-01-01T00:00:00Z' },
      },
      { type: 'member', item: { ...place, user_id: 'ann' } },
      { type: 'member', item: { ...place, user_id: 'ben', is_moderator: true } },
      {
        type: 'message',
        item: { ...place, id: 'm2', user: 'ben', text: 'Yes', parent_id: 'm1', created_at: '2024-05-01T11:00:00Z' },
      },
      { type: 'message', item: { ...place, ...said, mentioned_users: ['ben'] } },
      { type: 'user', item: person },
      {
        type: 'reaction',
        item: { message_id: 'm1', type: 'love', user_id: 'ben', created_at: '2024-05-01T10:30:00Z' },
      },
    ]
      .map(line => JSON.stringify(line))
      .join('\n'),
  ],
  [
    'a line for each entity of an export in its second version, as the API shows them',
    [
      { type: 'users', data: { id: 'ben', name: 'Ben' } },
      { type: 'channel', data: { id: 'hq', type: 'messaging', cid: 'messaging:hq', name: 'HQ', created_by: person } },
      { type: 'member', data: { cid: 'messaging:hq', user: person, channel_role: 'channel_member' } },
      { type: 'message', data: { ...said, cid: 'messaging:hq', mentioned_users: [{ id: 'ben', name: 'Ben' }] } },
      {
        type: 'message',
        data: {
          ...{ cid: 'messaging:hq', id: 'm2', user: { id: 'ben', name: 'Ben' }, text: 'Yes' },
          ...{ parent_id: 'm1', created_at: '2024-05-01T11:00:00Z' },
        },
      },
      { type: 'reaction', data: { message_id: 'm1', type: 'love', user: { id: 'ben' } } },
    ]
      .map(line => JSON.stringify(line))
      .join('\n'),
  ],
  [
    'channels with their messages',
    JSON.stringify([
      {
        channel: {
          id: 'hq',
          type: 'messaging',
          cid: 'messaging:hq',
          name: 'HQ',
          created_by: person,
          created_at: '2024-01-01T00:00:00Z',
        },
        members: [{ user: person }, { user: { id: 'ben', name: 'Ben' }, is_moderator: true }],
        messages: [
          {
            id: 'm2',
            user: { id: 'ben', name: 'Ben' },
            text: 'Yes',
            parent_id: 'm1',
            created_at: '2024-05-01T11:00:00Z',
          },
          {
            ...said,
            mentioned_users: [{ id: 'ben', name: 'Ben' }],
            latest_reactions: [{ type: 'love', user: { id: 'ben' }, created_at: '2024-05-01T10:30:00Z' }],
          },
        ],
      },
    ]),
  ],
])('an export of Stream becomes chats, as %s', async (_, text) => {
  await using target = await createDatabase()
  await using dir = createDirectory()
  const path = join(dir.path, 'stream.json')
  writeFileSync(path, text)

  await imported(target.url, await collect(converters.stream!(path)))

  expect(await countWrong(target.url)).toBe(0)
  await using server = await startServer({ DATABASE_URL: target.url })
  expect(await listMessages(server.admin.get, 'messaging_hq')).toMatchObject([
    {
      text: expect.stringMatching(/^Hi \[Ben\]\(@u\d+\)$/),
      created_by: { uid: 'ann' },
      reactions: { data: [{ content: '❤️' }] },
    },
    {
      text: expect.stringMatching(/^> Ann: Hi .*\n\nYes$/s),
      created_by: { uid: 'ben' },
      created_at: '2024-05-01T11:00:00Z',
    },
  ])
})

test('of Stream, channels may be named by their members, ids may be numbers, and what was read is kept', async () => {
  await using dir = createDirectory()
  const path = join(dir.path, 'stream.jsonl')
  const [type, channel_type] = ['messaging', 'messaging']
  const say = (id: string, day: string) => ({
    type: 'message',
    item: {
      ...{ channel_type, channel_member_ids: ['42', 'ann'], id, user: '42', text: 'Hi @Ann' },
      ...{ mentioned_users_ids: ['ann'], created_at: `2024-05-${day}T10:00:00Z` },
    },
  })
  const entities = [
    { type: 'user', item: person },
    { type: 'channel', item: { type, member_ids: ['ann', '42'], created_by: 'ann' } },
    {
      type: 'member',
      item: { channel_type, channel_member_ids: ['42', 'ann'], user_id: 'ann', last_read: '2024-05-02T00:00:00Z' },
    },
    ...[say('m1', '01'), say('m2', '03')],
  ]
  writeFileSync(path, entities.map(entity => JSON.stringify(entity)).join('\n'))

  const lines = await collect(converters.stream!(path))
  expect(lines).toMatchObject([
    { type: 'header' },
    { type: 'user', id: 'ann', uid: 'ann' },
    { type: 'user', id: '42', uid: 'user-42' },
    { type: 'app', uid: 'messaging_!members-42-ann' },
    ...['m1', 'm2'].map(id => ({ type: 'message', id, text: 'Hi [Ann](@ann)', mentions: ['ann'], created_by: '42' })),
    { type: 'member', user: 'ann', marked: 'm1' },
  ])
  writeFileSync(path, JSON.stringify([...entities, { type: 'message', item: { ...said, ...place } }]))
  await expect(collect(converters.stream!(path))).rejects.toThrow('the channel messaging:hq, but not it')
})

/** The lines as they would stand in a file. */
async function collect(lines: AsyncIterable<object>): Promise<object[]> {
  const found: object[] = []
  for await (const { number: _, ...line } of lines as AsyncIterable<{ number: number }>) found.push(line)
  return found
}

async function listMessages(get: (path: string) => Promise<{ body: Body }>, app: string): Promise<Body> {
  return (await get(`/api/apps/${app}/messages?out=details&order_by=id`)).body.data
}
