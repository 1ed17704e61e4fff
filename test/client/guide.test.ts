import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const guide = readFileSync(join(root, 'docs/client.md'), 'utf8')

/** The programs of the guide, by the heading that they stand under. */
const programs = guide.split(/^#+ /m).flatMap(section =>
  [...section.matchAll(/^```tsx?\n([\s\S]*?)^```/gm)].map(([, code]) => ({
    heading: section.split('\n')[0]!,
    // In this repository, the package is read as it is written.
    code: code!
      .replaceAll("'@parley/client'", `'${join(root, 'src/client/index.ts')}'`)
      .replaceAll("'@parley/client/testing'", `'${join(root, 'src/client/testing/index.ts')}'`),
  })),
)

const folder = mkdtempSync(join(root, 'test/artefacts-guide-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Programs that are pages: test/client/pages.test.ts has what stands for them. */
const pages = ['In a browser', 'In React Native', 'Beyond the life of a page']

test('each program of the guide runs', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await server.admin.put('/api/apps/garden', { type: 'chat_room', members: [ann.id] })
  const env = {
    PATH: process.env.PATH,
    PARLEY_URL: server.url,
    PARLEY_TOKEN: ann.token,
    PARLEY_API_KEY: server.key,
  }

  const told: Record<string, string> = {}
  for (const [i, { heading, code }] of programs.entries()) {
    if (pages.includes(heading)) continue
    const file = join(folder, `${i}.ts`)
    // What a person would end is ended after a while, which leaves a busy machine time to connect.
    writeFileSync(file, `${code}\nsetTimeout(() => process.exit(), 4_000)\n`)
    const { stdout, stderr } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
      env,
      cwd: folder,
    })
    expect(stderr).toBe('')
    told[heading] = `${told[heading] ?? ''}${stdout}`
  }

  expect(told['The client']).toMatch(/live \[ 'Hello' \]/)
  expect(told['In Node.js']).toContain('Who takes out the compost?')
  expect(told['Collections']).toContain('newest: Hello')
  expect(told['Own writes']).toMatch(/^sending\n[a-z-]+\n$/)
  expect(told['HTTP']).toMatch(/404 not-found/)
  expect(told['Events without a list']).toBeDefined()
  expect(told['How it is tested']).toContain('[]')
})
