import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { acknowledge, hang, startReceiver } from '../support/receiver.ts'
import { attempts, payloadOf, register } from '../support/webhooks.ts'

test('what was in flight or waiting when a process was killed is delivered by the next one, in order', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  await using receiver = await startReceiver(hang)
  // One second for an attempt means that the lease of the dead process ends after six.
  const environment = { DATABASE_URL: database.url, WEBHOOK_SECONDS: '1' }

  await using first = await startProgram(dir, environment)
  const webhook = await register(first, receiver.url)
  const app = (await first.admin.post('/api/apps', { type: 'chat_room' })).body.id
  for (const text of ['one', 'two', 'three']) await first.admin.post(`/api/apps/${app}/messages`, { text })
  await receiver.take(1)
  first.kill('SIGKILL')
  await first.ended
  receiver.behaviour = acknowledge
  await using second = await startProgram(dir, environment)

  const [cut, ...sent] = await receiver.take(4, 15_000)
  expect(sent[0]!.headers['x-service-delivery']).toBe(cut!.headers['x-service-delivery'])
  expect(payloadOf(sent[0]!).id).toBe(payloadOf(cut!).id)
  const ids = sent.map(request => Number(payloadOf(request).message.id))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(await attempts(second, webhook.id, 3)).toMatchObject([1, 2, 3].map(() => ({ status: 'success' })))
})
