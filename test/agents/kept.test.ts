import { expect, test } from 'vitest'
import { answersIn, chatWithAgent, makeAgent } from '../support/agents.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { answer, hang, startReceiver } from '../support/receiver.ts'
import type { ReadyProgram } from '../support/process.ts'
import { client } from '../support/client.ts'

/** A person of a program, with a chat with its agent. */
async function begin(program: ReadyProgram) {
  await makeAgent(program, { model: 'script' })
  const { body: user } = await program.admin.post('/api/users', { uid: 'ann', name: 'Ann' })
  const { body: token } = await program.admin.post(`/api/users/${user.id}/tokens`)
  const ann = { ...client(program.url, token.access_token), id: user.id, uid: 'ann', token: token.access_token }
  return { ann, app: await chatWithAgent(ann), at: (url: string) => client(url, token.access_token) }
}

const isRunning = (program: ReadyProgram) =>
  eventually(async () => expect((await program.admin.get('/api/runs?state=running')).body.count).toBe('1'))

test('what was being answered when the only node was killed is answered once by the next one', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  const environment = { DATABASE_URL: database.url }
  await using first = await startProgram(dir, environment)
  const { ann, app, at } = await begin(first)
  await ann.post(`/api/apps/${app}/messages`, { text: 'wait 5\nsay still here' })
  await isRunning(first)
  first.kill('SIGKILL')
  await first.ended

  await using second = await startProgram(dir, environment)

  const answers = await answersIn(at(second.url), app, { timeoutMs: 30_000 })
  expect(answers.map(({ text }) => text)).toEqual(['still here'])
  expect((await second.admin.get('/api/runs')).body).toMatchObject({ data: [{ state: 'done', attempts: '1' }] })
}, 60_000)

test('where one of two nodes is killed, the other one goes on with its answers', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  await using first = await startProgram(dir, { DATABASE_URL: database.url })
  const { ann, app, at } = await begin(first)
  await ann.post(`/api/apps/${app}/messages`, { text: 'wait 2\nsay from the other' })
  await isRunning(first)
  await using second = await startProgram(dir, { DATABASE_URL: database.url })
  first.kill('SIGKILL')

  const answers = await answersIn(at(second.url), app, { timeoutMs: 20_000 })

  expect(answers).toMatchObject([{ text: 'from the other' }])
}, 60_000)

test('a node that is stopped finishes what it answers, or leaves it to another at once', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  const environment = { DATABASE_URL: database.url, DRAIN_SECONDS: '5' }
  await using first = await startProgram(dir, environment)
  const { ann, app, at } = await begin(first)
  await ann.post(`/api/apps/${app}/messages`, { text: 'wait 1\nsay in time' })
  await isRunning(first)
  first.kill('SIGTERM')
  await first.ended

  await using second = await startProgram(dir, environment)
  const again = at(second.url)
  const finished = await answersIn(again, app, { timeoutMs: 100 })
  await again.post(`/api/apps/${app}/messages`, { text: 'wait 30\nsay too late' })
  await isRunning(second)
  second.kill('SIGTERM')
  await second.ended

  expect(finished.map(({ text }) => text)).toEqual(['in time'])
  const [left] = await database.sql`select state, attempts from agent_runs order by id desc limit 1`
  expect(left).toEqual({ state: 'queued', attempts: 0 })
}, 60_000)

test('a call that may do something twice is not made again when its node was killed, one that only reads is', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  await using orders = await startReceiver(hang)
  const environment = { DATABASE_URL: database.url }
  await using first = await startProgram(dir, environment)
  const { ann, app, at } = await begin(first)
  for (const [name, method] of [
    ['cancel', 'POST'],
    ['look', 'GET'],
  ]) {
    const added = { name, description: 'x', url: orders.url, method }
    expect((await first.admin.post('/api/agents/assistant/functions', added)).status).toBe(201)
  }
  await ann.post(`/api/apps/${app}/messages`, { text: 'call cancel {}\ncall look {}' })
  await orders.take(2)
  first.kill('SIGKILL')
  await first.ended
  orders.behaviour = answer(200, 'Order 17 is on its way')
  // The time of its lease has passed.
  await database.sql`update agent_runs set leased_until = now() where state = 'running'`

  await using second = await startProgram(dir, environment)
  const [reply] = await answersIn(at(second.url), app, { timeoutMs: 20_000 })

  expect(orders.requests.map(({ method }) => method).toSorted()).toEqual(['GET', 'GET', 'POST'])
  expect(reply!.text).toContain('The call was sent, but its result was lost. Do not repeat it without asking.')
  expect(reply!.text).toContain('Order 17 is on its way')
}, 60_000)
