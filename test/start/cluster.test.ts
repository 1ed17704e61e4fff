import { join } from 'node:path'
import { expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, launchProgram } from '../support/process.ts'

const cluster = join(import.meta.dirname, '../../src/trial/cluster.ts')
const command = (count: string) => [process.execPath, '--disable-warning=ExperimentalWarning', cluster, count]

test('several nodes start behind one address, one that is killed comes back, and Ctrl-C ends all', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()
  await using program = launchProgram(dir, { DATABASE_URL: database.url }, { command: command('2') })
  const found = await eventually(
    () => {
      const [, url, key] = /2 nodes behind (\S+)\nAPI key: (\S+)/.exec(program.output()) ?? []
      if (url === undefined || key === undefined) throw new Error(`not ready yet: ${program.output()}`)
      return { url, key }
    },
    { timeoutMs: 40_000 },
  )
  const admin = client(found.url, found.key)
  const pids = () => [...program.output().matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid))
  const { body: app } = await admin.post('/api/apps', { type: 'chat_room', name: 'Garden' })

  process.kill(pids()[0]!, 'SIGKILL')
  await eventually(async () => {
    expect((await admin.post(`/api/apps/${app.id}/messages`, { text: 'still here' })).status).toBe(201)
  })
  await eventually(() => expect(pids()).toHaveLength(3), { timeoutMs: 30_000 })

  program.kill('SIGINT')
  expect(await program.ended).toBe(0)
  for (const pid of pids()) expect(() => process.kill(pid, 0)).toThrow()
})

test('a number of nodes that makes no sense is refused with an example', async () => {
  await using dir = createDirectory()

  await using program = launchProgram(dir, {}, { command: command('none') })

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain('npm run cluster -- 3')
})
