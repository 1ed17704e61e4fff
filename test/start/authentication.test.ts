import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { startServer } from '../support/server.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/authentication.md'), 'utf8')

test('the example of docs/authentication.md runs', async () => {
  const [, given] = /`(AUTH_SECRET=\S+ AUTH_CREATE=true) npm start`/.exec(page)!
  const [, code] = /```js\n(import \{ SignJWT \}[\s\S]*?)```/.exec(page)!
  await using server = await startServer(parseEnv(given!.replaceAll(' ', '\n')) as Record<string, string>)
  // Where the packages are.
  const folder = join(root, 'node_modules/.cache')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `host-${process.pid}.mjs`)
  writeFileSync(file, code!)
  const env = { PATH: process.env.PATH, API: `${server.url}/api` }

  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
    expect(stdout).toBe('200 ann Ann\n')
  } finally {
    rmSync(file)
  }
})

test('the settings for each host are taken as they stand', () => {
  const blocks = [...page.matchAll(/```sh\n((?:AUTH_\w+=.*\n)+)```/g)].map(([, text]) => text!)

  expect(blocks).toHaveLength(7)
  for (const block of blocks) expect(readConfig(parseEnv(block)).authCreate).toBe(true)
})
