import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { hasBrowser, inBrowser, launchBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const root = join(import.meta.dirname, '../..')

/** In this repository, the package is read as it is written. */
const alias = {
  '@parley/client': join(root, 'src/client/index.ts'),
  '@parley/client/idb': join(root, 'src/client/idb/index.ts'),
}

/** A page with this program, and tokens of a person at /token. */
async function servePage(code: string, { url }: Server, person: Person) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    write: false,
    alias,
  })
  const page = `<!doctype html><pre id="messages"></pre><p id="status"></p><script>window.url = '${url}'</script>
    <script type="module" src="/main.js"></script>`
  const server = createServer((request, response) => {
    const isScript = request.url === '/main.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(request.url === '/token' ? person.token : isScript ? outputFiles[0]!.text : page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

describe.runIf(hasBrowser)('in a browser', inBrowser, () => {
  let server: Server
  let browser: Browser
  beforeAll(async () => ([server, browser] = await Promise.all([startServer(), launchBrowser()])))
  afterAll(async () => {
    await browser.close()
    await server[Symbol.asyncDispose]()
  })

  async function makeGarden(uid: string): Promise<Person> {
    const ann = await server.person('Ann')
    await server.admin.put(`/api/apps/${uid}`, { type: 'chat_room', members: [ann.id] })
    return ann
  }

  test('the page of the guide shows the room', async () => {
    const guide = readFileSync(join(root, 'docs/client.md'), 'utf8')
    const code = /### In a browser[\s\S]*?```ts\n([\s\S]*?)```/.exec(guide)![1]!
    const ann = await makeGarden('garden')
    await ann.post('/api/apps/garden/messages', { text: 'Hello page' })
    await using page = await servePage(code.replace('https://chat.example', server.url), server, ann)
    const tab = await browser.newPage()
    await tab.goto(page.url)

    await eventually(async () => expect(await tab.textContent('#status')).toBe('live'))

    expect(await tab.textContent('#messages')).toMatch(/^Ann: Hello page/)
    await tab.close()
  })

  test('what was sent without a network, on a page that was closed, is sent once when the page is opened again', async () => {
    const ann = await makeGarden('shed')
    await ann.post('/api/apps/shed/messages', { text: 'before' })
    const code = `
      import { createParley } from '@parley/client'
      import { persist } from '@parley/client/idb'
      const parley = createParley({ url: window.url, token: () => fetch('/token').then(r => r.text()) })
      const { drafts } = await persist(parley, { user: 'ann' })
      const shown = []
      const { messages } = parley.app('shed')
      messages.subscribe(({ data, status }) => shown.push({ status, rows: data.map(({ plain, state }) => plain + ' ' + state) }))
      Object.assign(window, { shown, messages, drafts })`
    await using page = await servePage(code, server, ann)
    const context = await browser.newContext()
    const tab = await context.newPage()
    await tab.goto(page.url)
    await eventually(async () => expect(await tab.evaluate('shown.at(-1)?.status')).toBe('live'))
    await tab.evaluate(`drafts.set('shed', 'half a thought')`)
    // The server is away for the page, which itself can still be opened.
    await context.route(`${server.url}/**`, route => route.abort())
    await tab.evaluate(`void messages.send({ text: 'offline' })`)
    await eventually(async () => expect(await tab.evaluate('shown.at(-1).rows')).toContain('offline sending'))
    await tab.evaluate('new Promise(resolve => setTimeout(resolve, 1_000))')
    await tab.close()

    await context.unroute(`${server.url}/**`)
    const again = await context.newPage()
    await again.goto(page.url)

    await eventually(async () => {
      expect(await again.evaluate('shown.at(-1)')).toEqual({
        status: 'live',
        rows: ['before settled', 'offline settled'],
      })
    })
    const first = (await again.evaluate('shown[0]')) as { status: string; rows: string[] }
    expect(first).toMatchObject({ status: 'stale', rows: ['before settled', 'offline sending'] })
    expect(await again.evaluate(`drafts.get('shed')`)).toBe('half a thought')
    const { body } = await ann.get('/api/apps/shed/messages')
    expect(body.count).toBe('2')
    await context.close()
  })
})
