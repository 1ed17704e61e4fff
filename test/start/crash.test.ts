import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createDirectory, killPostgres, startProgram } from '../support/process.ts'

test('a node that was killed loses nothing that it had acknowledged', async () => {
  await using dir = createDirectory()
  const first = await startProgram(dir)
  const writes = Array.from({ length: 50 }, (_, i) => first.admin.post('/api/users', { uid: `user-${i}` }))
  const acknowledged: string[] = []
  for (const write of writes) void write.then(({ body }) => acknowledged.push(body.uid)).catch(() => {})
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(5))
  first.kill('SIGKILL')
  await first.ended

  // PostgreSQL has outlived it: the next start takes the directory over.
  await using second = await startProgram(dir)

  for (const uid of acknowledged) expect((await second.admin.get(`/api/users/${uid}`)).status).toBe(200)
})

test('a node starts again after it was killed together with its database', async () => {
  await using dir = createDirectory()
  const first = await startProgram(dir)
  await first.admin.post('/api/users', { uid: 'ann' })
  first.kill('SIGKILL')
  killPostgres(dir, 'SIGKILL')
  await first.ended

  await using second = await startProgram(dir)

  expect((await second.admin.get('/api/users/ann')).status).toBe(200)
})

test('while the database is away requests are told to come back, and the node brings it back', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir)
  await program.admin.post('/api/users', { uid: 'ann' })

  const answers = []
  killPostgres(dir, 'SIGKILL')
  do answers.push(await program.admin.post('/api/users', { uid: `user-${answers.length}` }))
  while (answers.at(-1)!.status !== 201)

  const refused = answers.slice(0, -1)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, headers } of refused) {
    expect(status).toBe(503)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect((await program.admin.get('/api/users/ann')).status).toBe(200)
})
