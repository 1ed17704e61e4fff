import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build, type BuildOptions } from 'esbuild'

const root = join(import.meta.dirname, '../..')

/** The head of every page: a client for the token after the #, and what renders. */
const head = `
import { memo, StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createParley } from '@parley/client'
import * as parts from '@parley/react'
import '@parley/react/styles.css'
const { ParleyProvider } = parts
const [token, app] = location.hash.slice(1).split(',')
const parley = createParley({ url: SERVER, token: token })
const root = createRoot(document.getElementById('root'))
const show = element => root.render(<StrictMode><ParleyProvider parley={parley}>{element}</ParleyProvider></StrictMode>)
`

type Mode = 'development' | 'production'

/** The files that are made of code and the sources of the components, by their paths. */
export async function bundleReact(
  code: string,
  { mode = 'development', ...options }: BuildOptions & { mode?: Mode } = {},
): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    stdin: { contents: code, loader: 'tsx', resolveDir: root },
    outfile: '/page.js',
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    alias: {
      '@parley/client': join(root, 'src/client/index.ts'),
      '@parley/react': join(root, 'src/react/index.ts'),
      '@parley/react/suspense': join(root, 'src/react/suspense.ts'),
      '@parley/react/styles.css': join(root, 'src/react/styles/index.css'),
    },
    logLevel: 'silent',
    ...options,
    define: { 'process.env.NODE_ENV': JSON.stringify(mode), ...options.define },
    write: false,
  })
  return new Map(outputFiles.map(({ path, text }) => [path, text]))
}

/** A page made of the sources of the components and of the code given, on the loopback interface. */
export async function serveReactPage(server: string, code: string, mode?: Mode): Promise<Site> {
  return serveFiles(
    await bundleReact(head + code, { ...(mode && { mode }), define: { SERVER: JSON.stringify(server) } }),
  )
}

export type Site = AsyncDisposable & { url: string }

/** Files by their paths, and a page that loads `/page.js`, with `html` in it. */
export async function serveFiles(files: ReadonlyMap<string, string>, html = ''): Promise<Site> {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Page</title>
    <link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css"><style>#root{display:flex;height:100vh}</style>
    <body><div id="root">${html}</div><script type="module" src="/page.js"></script>`
  const web: HttpServer = createServer(({ url = '/' }, response) => {
    const type = url.endsWith('.js') ? 'text/javascript' : url.endsWith('.css') ? 'text/css' : 'text/html'
    response.writeHead(200, { 'content-type': type }).end(files.get(url) ?? page)
  })
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(web.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => web.close(resolve))
      web.closeAllConnections()
      await closed
    },
  }
}
