import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasBrowser, inBrowser, launchBrowser } from '../support/browser.ts'
import { client as callsOf } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, launchProgram } from '../support/process.ts'
import { resolveForReactNative } from '../support/metro.ts'
import { startServer } from '../support/server.ts'

const run = promisify(execFile)
const client = join(import.meta.dirname, '../../src/client')
const folder = mkdtempSync(join(tmpdir(), 'parley-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files: string[] = []

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: client })
  // What the build says comes before.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [{ filename: string; files: { path: string }[] }]
  files = packed.files.map(({ path }) => path)
  const scope = join(folder, 'node_modules/@parley')
  mkdirSync(scope, { recursive: true })
  await run('tar', ['xzf', join(folder, packed.filename), '-C', scope])
  await run('mv', [join(scope, 'package'), join(scope, 'client')])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of ['esbuild', '@esbuild'])
    symlinkSync(join(client, '../../node_modules', name), join(folder, 'node_modules', name))
})

test('the package has what runs, its types and its source maps, and nothing else', () => {
  const others = files.filter(path => !/^dist\/.*\.(js|js\.map|d\.ts)$/.test(path))

  expect(others.toSorted()).toEqual(['README.md', 'package.json'])
  expect(files.filter(path => path.includes('test.'))).toEqual([])
})

test('an empty project imports it, and its entries', async () => {
  writeFileSync(
    join(folder, 'main.js'),
    `import { createParley } from '@parley/client'
     import { createFaultProxy } from '@parley/client/testing'
     import { persist } from '@parley/client/idb'
     console.log(typeof createParley, typeof createFaultProxy, typeof persist)`,
  )

  const { stdout } = await run(process.execPath, ['main.js'], { cwd: folder })

  expect(stdout).toBe('function function function\n')
})

test("React Native's bundler finds its entries", () => {
  const found = ['', '/idb'].map(entry => resolveForReactNative(join(folder, 'main.js'), `@parley/client${entry}`))

  const dist = realpathSync(join(folder, 'node_modules/@parley/client/dist'))
  expect(found).toEqual([join(dist, 'index.js'), join(dist, 'idb/index.js')])
})

test.each([
  ['nodenext', []],
  ['esnext', ['--moduleResolution', 'bundler']],
])('its types hold for modules of %s, with the TypeScript of others', async (module, more) => {
  writeFileSync(
    join(folder, 'main.ts'),
    `import { createParley, type Message } from '@parley/client'
     const parley = createParley({ url: 'http://localhost', token: 'x' })
     export const id: Promise<number> = parley.http.get('/api/apps/{app}', { path: { app: 1 } }).then(app => app.id)
     export const rows: readonly Message[] = parley.app('garden').messages.get().data
     // @ts-expect-error There is no such path.
     export const none = parley.http.get('/api/nothing')`,
  )
  const typed = createRequire(join(import.meta.dirname, '../typed-client/package.json'))
  const compiler = typed.resolve('typescript/package.json').replace('package.json', 'bin/tsc')
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--module', module, ...more]

  const { stdout } = await run(process.execPath, [compiler, ...options, 'main.ts'], { cwd: folder })

  expect(stdout).toBe('')
})

/** How many bytes a page takes for what this module uses, as it is sent. */
async function sizeOf(contents: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}

test('a page takes little for it, and less for a part of it', async () => {
  const whole = await sizeOf(`export * from '@parley/client'`)
  const part = await sizeOf(`
    import { connect, messagesOf } from '@parley/client'
    export const start = options => messagesOf(connect(options), 'garden')`)

  expect(whole).toBeLessThan(16_300)
  expect(part).toBeLessThan(11_000)
})

/** Examples run as in an empty project of their own, with the package. */
function copyExample(name: string, program: string): string {
  const copy = join(folder, name)
  cpSync(join(client, '../../docs/examples', name), copy, { recursive: true })
  return join(copy, program)
}

test.runIf(hasBrowser)('the example without a framework shows what others write, and sends', inBrowser, async () => {
  await using server = await startServer()
  const browser = await launchBrowser()
  await using dir = createDirectory()
  await using program = launchProgram(
    dir,
    { PARLEY_URL: server.url, PARLEY_API_KEY: server.key, PARLEY_USER: 'vera', PORT: '0' },
    { command: [process.execPath, copyExample('vanilla', 'server.js')] },
  )
  const url = await eventually(() => {
    const found = /^http:\S+/m.exec(program.output())?.[0]
    expect(found, program.output()).toBeDefined()
    return found!
  })
  const tab = await browser.newPage()
  await tab.goto(url)
  await eventually(async () => expect(await tab.textContent('#status')).toBe('live'))

  await tab.fill('input', 'From the page')
  await tab.click('button')

  await eventually(async () => {
    const { body } = await server.admin.get('/api/apps/garden/messages?order_by=id%20desc')
    expect(body.data[0].plain).toBe('From the page')
    expect(await tab.textContent('#messages li:last-child')).toMatch(/: From the page$/)
  })
  await browser.close()
})
test('the example bot answers where it is mentioned', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using dir = createDirectory()
  await using program = launchProgram(
    dir,
    { PARLEY_URL: server.url, PARLEY_API_KEY: server.key },
    { command: [process.execPath, copyExample('node-bot', 'bot.js')] },
  )
  await eventually(() => expect(program.output()).toContain('connected'))
  await server.admin.put('/api/apps/garden', { type: 'chat_room', members: [ann.id, 'bot'] })
  const { request } = callsOf(server.url, ann.token)

  await eventually(
    async () => {
      await request('POST', '/api/apps/garden/messages', { body: { text: '[Bot](@bot) good morning' } })
      const { body } = await ann.get('/api/apps/garden/messages?out=details&order_by=id%20desc')
      expect(body.data.map(({ plain }: { plain: string }) => plain)).toContain('Hello Ann!')
    },
    { everyMs: 500 },
  )
})
