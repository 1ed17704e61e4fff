import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'
import { settings } from '../src/config/config.ts'
import { startServer } from './support/server.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

test('the first conversation of the README works, line by line', async () => {
  await using server = await startServer()
  const lines = /^KEY=.*\n((?:curl .*\n)+)/m.exec(readme)![1]!.trim().split('\n')
  const env = {
    PATH: process.env.PATH,
    KEY: `Authorization: Bearer ${server.key}`,
    JSON: 'Content-Type: application/json',
    API: `${server.url}/api`,
  }

  const answers: unknown[] = []
  for (const line of lines) {
    const { stdout } = await promisify(execFile)('bash', ['-c', `${line} --silent --fail-with-body`], { env })
    answers.push(JSON.parse(stdout))
  }

  expect(answers).toHaveLength(5)
  expect(answers[4]).toMatchObject({ count: '1', data: [{ plain: 'Hello Ben, welcome @Ann!' }] })
})

test('the table of docs/settings.md is the list that the program reads', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/settings.md'), 'utf8')
  const table = /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/.exec(page)![1]!

  const rows = table.split('\n').flatMap(line => {
    const cells = line.split('|').map(cell => cell.trim().replaceAll('`', ''))
    return /^[A-Z_0-9]+$/.test(cells[1] ?? '') ? [cells.slice(1, 4)] : []
  })

  const declared = Object.values(settings).map(({ name, default: fallback, meaning }) => [
    name,
    fallback ?? '',
    meaning,
  ])
  expect(rows).toEqual(declared)
})
