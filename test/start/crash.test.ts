import { spawn } from 'node:child_process'
import { chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { client, type Answer } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, killPostgres, launchProgram, programKey, startProgram } from '../support/process.ts'

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

test('a pid that another process has by now does not keep the database from starting', async () => {
  await using dir = createDirectory()
  const first = await startProgram(dir)
  first.kill('SIGTERM')
  await first.ended
  const cluster = join(dir.path, 'postgres')
  const { uid, gid } = statSync(cluster)
  const other = spawn('sleep', ['60'], { uid, gid })
  writeFileSync(join(cluster, 'postmaster.pid'), `${other.pid}\n${cluster}\n0\n5432\n${cluster}\n\n0 0\nready\n`)
  chownSync(join(cluster, 'postmaster.pid'), uid, gid)

  await using second = await startProgram(dir)

  expect((await second.admin.get('/api/users')).status).toBe(200)
  expect(other.kill()).toBe(true)
})

test('a database that cannot be brought back ends the node, with the last words of PostgreSQL', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir)

  rmSync(join(dir.path, 'postgres/global/pg_control'))
  killPostgres(dir, 'SIGKILL')

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain('PostgreSQL ended with')
  expect(program.output()).toContain('pg_control')
})

test('a first start that was killed half way is begun anew', async () => {
  await using dir = createDirectory()
  await using first = launchProgram(dir, { API_KEY: programKey })
  await eventually(() => expect(readdirSync(dir.path).join()).toContain('postgres-draft-'))
  first.kill('SIGKILL')
  await first.ended

  await using second = await startProgram(dir)

  expect((await second.admin.get('/api/users')).status).toBe(200)
  expect(readdirSync(dir.path).join()).not.toContain('draft')
})

test('while the database is away requests are told to come back, and the node brings it back', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir)
  const { admin } = program
  const { body: app } = await admin.post('/api/apps', { type: 'chat_room' })
  const messages = `/api/apps/${app.id}/messages`
  const calls = [
    (name: string) => admin.post(messages, { text: name }),
    (name: string) => admin.post('/api/users', { uid: name }),
    () => admin.get(`${messages}?take=1`),
    () => admin.get('/api/users'),
    () => client(program.url, 'wys_nobody-knows-this-key').get('/api/users'),
  ]

  const answers: Answer[] = []
  let isKilled = false
  const callUntilWell = async (call: (typeof calls)[number], kind: number) => {
    for (let well = 0; well < 10;) {
      const answer = await call(`call-${kind}-${answers.length}`)
      answers.push(answer)
      well = isKilled && answer.status < 500 ? well + 1 : 0
      if (answer.status < 500) continue
      expect(answer.status).toBe(503)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  }
  const all = Promise.all([...calls, ...calls].map(callUntilWell))
  await eventually(() => expect(answers.length).toBeGreaterThan(50))
  killPostgres(dir, 'SIGKILL')
  await eventually(() => expect(answers.some(({ status }) => status === 503)).toBe(true))
  isKilled = true
  await all

  const sent = answers.filter(({ status, body }) => status === 201 && body.text !== undefined)
  for (const { body } of sent) expect((await admin.get(`/api/messages/${body.id}`)).body.text).toBe(body.text)
})
