import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('what was written, edited or deleted just now is found as it is, before and after its terms are made', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { sql } = database
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const path = `/api/apps/${app}/messages`
  const send = async (text: string, tags: string[] = []): Promise<string> =>
    (await ann.post(path, { text, tags })).body.id
  const edited = await send('a walnut', ['old'])
  const deleted = await send('a walnut as well')
  const terms = () => sql<{ terms: string }[]>`select terms::text from messages_terms order by id`
  await eventually(async () => expect(await terms()).toHaveLength(2))
  const find = async (query: string) => {
    const { body } = await ben.get(`${path}?${query}`)
    return { count: body.count, ids: (body.data ?? []).map(({ id }: { id: string }) => id) }
  }
  const isWhatIsThere = async () => {
    expect(await find('q=walnut')).toEqual({ count: '0', ids: [] })
    expect(await find('tag=old')).toEqual({ count: '0', ids: [] })
    expect(await find('q=almo')).toEqual({ count: '2', ids: [edited, made] })
    expect(await find('q=almond&tag=new')).toEqual({ count: '1', ids: [edited] })
  }

  // While somebody else holds the cursor, nothing moves it.
  const held = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const holding = sql.begin(async tx => {
    await tx`select from notification_cursors where app_id = ${app} for update`
    isHeld.resolve()
    await held.promise
  })
  await isHeld.promise
  const made = await send('An almond')
  await ann.patch(`/api/messages/${edited}`, { text: 'two almonds', tags: ['new'] })
  await ann.delete(`/api/messages/${deleted}`)

  await isWhatIsThere()
  expect((await terms()).filter(row => row.terms.includes('walnut'))).toHaveLength(2)
  held.resolve()
  await holding
  await eventually(async () => {
    const kept = await terms()
    expect(kept).toHaveLength(2)
    expect(kept.every(row => row.terms.includes('almond'))).toBe(true)
  })
  await isWhatIsThere()
})

test('words that a symbol joins are found where they are joined, and in the middle of others', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const path = `/api/apps/${app}/messages`
  const send = async (text: string): Promise<string> => (await ann.post(path, { text })).body.id
  const joined = await send('It is a well-known fact.')
  const apart = await send('Well, it was known before.')
  const find = async (q: string) =>
    ((await ann.get(`${path}?q=${q}`)).body.data ?? []).map(({ id }: { id: string }) => id)

  expect(await find('well-known')).toEqual([joined])
  expect(await find('WELL-KNO')).toEqual([joined])
  expect(await find('known+well')).toEqual([joined, apart])
})
