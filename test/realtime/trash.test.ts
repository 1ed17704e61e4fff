import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appOf, create } from '../support/content.ts'
import { listen, type Heard } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

describe('what is in the trash', () => {
  let server: Server
  let ann: Person
  beforeAll(async () => {
    server = await startServer()
    ann = await server.person('Ann')
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  const fileOf = async () => ({ blob_id: (await upload(ann, { name: 'SECRET.txt', content: 'SECRET' })).body.id })

  /** The app's history after a rev, for somebody who belongs to it only from now on; without who joined. */
  async function tellNewcomer(app: string, rev: string): Promise<Heard[]> {
    const eve = await server.person('Eve')
    await server.admin.put(`/api/apps/${app}/members/${eve.id}`, { access: 'write' })
    await using inbox = await listen(server.url, { token: eve.token })
    await inbox.subscribe(app, rev)
    await inbox.take(1, 'current')
    return inbox.frames.filter(({ type, event }) => type === 'event' && event !== 'member_added')
  }
  const revOf = async (app: string) => (await ann.get(`/api/apps/${app}`)).body.rev

  test.each(['message', 'post'])('a %s is told again without what was written, and comes back whole', async entity => {
    const app = await appOf(server, entity === 'post' ? 'posts' : 'chat_room', [ann])
    const rev = await revOf(app)
    const { id } = await create(ann, `/api/apps/${app}/${entity}s`, { text: 'SECRET' })
    await ann.patch(`/api/${entity}s/${id}`, { text: 'SECRET as well' })
    await ann.post(`/api/${entity}s/${id}/trash`)

    const told = await tellNewcomer(app, rev)
    await ann.post(`/api/${entity}s/${id}/restore`)
    const toldLater = await tellNewcomer(app, rev)

    expect(told.map(frame => [frame.event, frame[entity]])).toEqual([
      [`${entity}_updated`, { id, app: expect.objectContaining({ id: app }), is_trashed: true }],
    ])
    expect(toldLater.map(frame => [frame.event, frame[entity].text])).toContainEqual([
      `${entity}_created`,
      'SECRET as well',
    ])
  })

  test('what was told of it to those who were there is not kept for those who come later', async () => {
    const app = await appOf(server, 'chat_room', [ann])
    await using live = await listen(server.url, { token: ann.token })
    const { rev } = await live.subscribe(app)
    const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'SECRET' })
    await ann.post(`/api/messages/${id}/trash`)
    const [created, trashed] = await live.take(2)

    const told = await tellNewcomer(app, created.rev)

    expect(created.prev).toBe(rev)
    expect(trashed.message).toMatchObject({ text: 'SECRET', is_trashed: true })
    expect(told.map(({ message }) => message.is_trashed)).toEqual([true])
    expect(JSON.stringify(told)).not.toContain('SECRET')
  })

  test.each(['post', 'file'])('comments on a %s are not told again, nor votes in them', async entity => {
    const app = await appOf(server, `${entity}s`, [ann])
    const rev = await revOf(app)
    const { id } = await create(
      ann,
      `/api/apps/${app}/${entity}s`,
      entity === 'post' ? { text: 'SECRET' } : await fileOf(),
    )
    const options = [{ text: 'SECRET' }, { text: 'SECRET too' }]
    const poll = await create(ann, `/api/${entity}s/${id}/comments`, { text: 'SECRET', options })
    await create(ann, `/api/options/${poll.options.data[0].id}/vote`)
    await ann.post(`/api/${entity}s/${id}/trash`)

    const told = await tellNewcomer(app, rev)
    await ann.post(`/api/${entity}s/${id}/restore`)
    const toldLater = await tellNewcomer(app, rev)

    expect(told.map(frame => frame.event)).toEqual([`${entity}_updated`])
    expect(JSON.stringify(told)).not.toContain('SECRET')
    expect(toldLater.map(frame => frame.event)).toEqual(expect.arrayContaining(['comment_created', 'vote_added']))
  })

  test('votes in a poll are not told again', async () => {
    const app = await appOf(server, 'chat_room', [ann])
    const rev = await revOf(app)
    const poll = await create(ann, `/api/apps/${app}/messages`, { options: [{ text: 'SECRET' }, { text: 'No' }] })
    await create(ann, `/api/options/${poll.options.data[0].id}/vote`)
    await ann.post(`/api/messages/${poll.id}/trash`)

    const told = await tellNewcomer(app, rev)

    expect(told.map(({ event }) => event)).toEqual(['message_updated'])
  })

  test.each(['/trash', ''])('reactions to what went by %j are not told again', async way => {
    const app = await appOf(server, 'chat_room', [ann])
    const rev = await revOf(app)
    const [kept, gone] = [
      await create(ann, `/api/apps/${app}/messages`, { text: 'kept' }),
      await create(ann, `/api/apps/${app}/messages`, { text: 'SECRET' }),
    ]
    for (const { id } of [kept, gone]) await ann.post(`/api/messages/${id}/reactions`, { content: '💣' })
    await (way === '' ? server.admin.delete(`/api/messages/${gone.id}`) : ann.post(`/api/messages/${gone.id}${way}`))

    const told = await tellNewcomer(app, rev)

    expect(told.filter(({ event }) => event === 'reaction_added').map(({ entity }) => entity.id)).toEqual([kept.id])
  })

  test('a file has neither a name nor links', async () => {
    const app = await appOf(server, 'files', [ann])
    const rev = await revOf(app)
    const { id } = await create(ann, `/api/apps/${app}/files`, await fileOf())
    await ann.post(`/api/files/${id}/trash`)

    const told = await tellNewcomer(app, rev)

    expect(told.map(({ event, file }) => [event, file])).toEqual([
      ['file_updated', { id, app: expect.objectContaining({ id: app }), is_trashed: true }],
    ])
  })
})
