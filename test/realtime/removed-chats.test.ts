import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { startPair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'

test('settings of a chat that was removed and is back are no news, on other nodes neither', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using inbox = await listen(there.url, { token: ben.token })
  const { id } = await create(ann, '/api/apps', { type: 'private_chat', members: [ben.id] })
  const path = `/api/apps/${id}`
  await inbox.take(1, 'app_added')

  await ben.post(`${path}/remove`)
  const told = await inbox.take(1, 'app_removed')
  await create(ben, '/api/apps', { type: 'private_chat', members: [ann.id] })
  told.push(...(await inbox.take(1, 'app_added')))
  await ben.put(`${path}/pin`)
  await ben.delete(`${path}/pin`)
  await ben.put(`${path}/archive`)
  await create(ann, `${path}/messages`, { text: 'Hello' })
  await inbox.take(1, 'unread')

  expect(told.map(({ app_id }) => app_id)).toEqual([id, id])
  expect(inbox.frames.filter(({ type }) => /^app_(added|removed)$/.test(type))).toEqual([])
})

test('a removed chat is back with a message, on every node, and gone again without it', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using near = await listen(here.url, { token: ben.token })
  await using far = await listen(there.url, { token: ben.token })
  const { id } = await create(ann, '/api/apps', { type: 'private_chat', members: [ben.id] })
  const path = `/api/apps/${id}`
  const hearOnBoth = async (type: string) => {
    for (const inbox of [near, far]) expect(await inbox.take(1, type)).toEqual([{ type, app_id: id }])
  }
  await hearOnBoth('app_added')
  await create(ann, `${path}/messages`, { text: 'One' })
  await ben.post(`${path}/remove`)
  await hearOnBoth('app_removed')
  const { id: message } = await create(ann, `${path}/messages`, { text: 'Two' })
  await hearOnBoth('app_added')
  await ann.post(`/api/messages/${message}/trash`)
  await hearOnBoth('app_removed')
  await ann.post(`/api/messages/${message}/restore`)
  await hearOnBoth('app_added')
  await create(ann, `${path}/messages`, { text: 'Three' })
  await ben.post(`${path}/remove`)
  await hearOnBoth('app_removed')

  const others = [...near.frames, ...far.frames].filter(({ type }) => /^app_(added|removed)$/.test(type))
  expect(others).toEqual([])
})
