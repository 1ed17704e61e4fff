// Serves the page, and gives it tokens: in your product, the user of the session gets one.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { build } from 'esbuild'

const { PARLEY_URL: url, PARLEY_API_KEY: key, PORT: port = '8090', PARLEY_USER: user = 'ann' } = process.env
const here = import.meta.dirname

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

await call('PUT', `/api/users/${user}`, { name: 'Ann' })
await call('PUT', '/api/apps/garden', { type: 'chat_room', name: 'Garden', members: [user] })
const { outputFiles } = await build({ entryPoints: [`${here}/main.js`], bundle: true, format: 'esm', write: false })

const server = createServer(async ({ url: path }, response) => {
  if (path === '/token') return response.end((await call('POST', `/api/users/${user}/tokens`, {})).access_token)
  if (path === '/config') return response.end(JSON.stringify({ url }))
  const isScript = path === '/main.js'
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
  response.end(isScript ? outputFiles[0].text : await readFile(`${here}/index.html`))
})
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
