import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { basename, dirname, extname, join, normalize } from 'node:path'
import { bundlePages } from './bundle.ts'
import { passOn, passOnSockets } from './proxy.ts'
import { createTools } from './tools.ts'
import { ask } from './workspace.ts'

export interface PagesOptions {
  /** The URL of the server whose API the pages use. */
  server: string
  key: string
  /** Default: the loopback interface. */
  host?: string
  /** 0: any free port. */
  port: number
  /** The ids of the users who are shown side by side. */
  people: number[]
}

export interface Pages {
  url: string
  close(): Promise<void>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.css': 'text/css',
}

/** Paths of the server behind. */
const behind = /^\/(?:api|content|hubs)(?:\/|$)/

/**
 * The host application of the demo: a workspace made with the components for React, the same one in the UI kit at
 * `/kit`, access tokens for any caller, and a tool server for agents. Not for production.
 */
export async function servePages({ server, key, host = '127.0.0.1', port, people }: PagesOptions): Promise<Pages> {
  const kit = dirname(createRequire(import.meta.url).resolve('@weavy/uikit-web'))
  const folders = [
    { prefix: '/uikit-web/', folder: kit },
    { prefix: '/pdfjs/', folder: join(kit, '../pdfjs') },
  ]
  const tools = createTools()
  let bundled: ReturnType<typeof bundlePages> | undefined
  const bundle = () => (bundled ??= bundlePages())
  const answer = async ({ pathname, searchParams }: URL, request: IncomingMessage, response: ServerResponse) => {
    if (pathname === '/tools') return await tools(request, response)
    if (behind.test(pathname)) return passOn(server, request, response)
    if (pathname === '/') return await sendPage(response, 'page/page.html', { entry: 'stage' })
    if (pathname === '/workspace') return await sendPage(response, 'page/page.html', { entry: 'person' })
    if (pathname === '/parts') return await sendPage(response, 'page/page.html', { entry: 'parts' })
    if (pathname === '/kit') return await sendPage(response, 'kit/side-by-side.html', { panes: JSON.stringify(panes) })
    if (pathname === '/person') return await sendPage(response, 'kit/person.html', { server })
    if (pathname.startsWith('/assets/'))
      return send(response, extname(pathname), (await bundle()).get(basename(pathname)))
    if (pathname.startsWith('/source/')) return await sendSource(response, pathname.slice('/source'.length))
    if (pathname === '/token') {
      const { access_token } = await ask({ url: server, key }, 'POST', `/api/users/${searchParams.get('user')}/tokens`)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token }))
      return
    }
    const found = folders.find(({ prefix }) => pathname.startsWith(prefix))
    // `normalize` removes every `..` that could leave the folder.
    const path = found && join(found.folder, normalize(`/${pathname.slice(found.prefix.length)}`))
    if (path === undefined || !existsSync(path)) return void response.writeHead(404).end()
    response.writeHead(200, {
      'content-type': types[extname(path)] ?? 'application/octet-stream',
      'access-control-allow-origin': '*',
    })
    createReadStream(path).pipe(response)
  }

  const web = await listen({ host, port }, answer)
  passOnSockets(web, server)
  // An origin for each user: the kit caches in its origin's storage, which two users would share.
  const others = await Promise.all(people.slice(1).map(() => listen({ host, port: 0 }, answer)))
  const panes = people.map((user, i) => `${addressOf([web, ...others][i]!)}/person?user=${user}&view=messenger`)
  return {
    url: addressOf(web),
    async close() {
      await Promise.all([web, ...others].map(close))
    },
  }
}

type Answer = (url: URL, request: IncomingMessage, response: ServerResponse) => Promise<void>

async function listen({ host, port }: { host: string; port: number }, answer: Answer): Promise<Server> {
  const web = createServer((request, response) => {
    const address = new URL(request.url ?? '/', 'http://localhost')
    answer(address, request, response).catch((error: unknown) => {
      response.writeHead(500).end(error instanceof Error ? error.message : '')
    })
  })
  await new Promise<void>((resolve, reject) => web.once('error', reject).listen(port, host, resolve))
  return web
}

function addressOf(web: Server): string {
  return `http://localhost:${(web.address() as AddressInfo).port}`
}

async function close(web: Server): Promise<void> {
  const closed = new Promise(resolve => web.close(resolve))
  web.closeAllConnections()
  await closed
}

function send(response: ServerResponse, extension: string, content: Uint8Array | undefined): void {
  if (content === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': types[extension] ?? 'text/plain; charset=utf-8' }).end(content)
}

/** The code of a page, to be read. */
async function sendSource(response: ServerResponse, name: string): Promise<void> {
  const path = join(import.meta.dirname, 'page', normalize(name))
  send(response, '', existsSync(path) ? await readFile(path) : undefined)
}

/** Fills in `{{name}}`. */
async function sendPage(response: ServerResponse, name: string, values: Record<string, string>): Promise<void> {
  const page = await readFile(join(import.meta.dirname, name), 'utf8')
  const filled = page.replace(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? '')
  response.writeHead(200, { 'content-type': types['.html'] }).end(filled)
}
