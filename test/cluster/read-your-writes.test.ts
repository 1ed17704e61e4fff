import { expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { redisIsMissing } from '../support/redis.ts'
import { startPair } from '../support/pair.ts'

if (redisIsMissing !== null) console.warn(`Reading through another node is not tested: ${redisIsMissing}.`)
const withRedis = test.skipIf(redisIsMissing !== null)

withRedis('what was written through one node is read through the other at once', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const ann = await here.person()
  const annThere = client(there.url, ann.token)
  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', name: 'hall' })
  const path = `/api/apps/${app.id}`

  for (let i = 0; i < 50; i++) {
    const { body: sent } = await ann.post(`${path}/messages`, { text: `message ${i}` })
    const { body: page } = await annThere.get(`${path}/messages?order_by=id+desc`)
    expect(page.data[0].id).toBe(sent.id)

    await ann.patch(path, { name: `hall ${i}` })
    expect((await annThere.get(path)).body.name).toBe(`hall ${i}`)
  }
  await ann.delete(path)
  expect((await annThere.get(path)).status).toBe(404)
})
