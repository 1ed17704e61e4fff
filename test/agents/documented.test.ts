import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { answersAt } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'
import { serveTools } from '../support/tool-server.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/agents.md'), 'utf8')
const secret = 'a secret of sixteen'

test('the commands of the page about agents work, one after the other, and so does the function that it shows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-docs-'))
  await using tools = await serveTools({ look: { description: 'Looks', answer: () => ({ content: [] }) } })
  await using server = await startServer({ FUNCTION_SECRET: secret })
  const code = /```js\n([\s\S]*?)```/.exec(page)![1]!
  const telling = "server.once('listening', () => console.log(server.address().port))"
  writeFileSync(join(folder, 'function.mjs'), `${code}\n${telling}\n`)
  const receiver = spawn(process.execPath, ['function.mjs'], {
    cwd: folder,
    env: { PORT: '0', FUNCTION_SECRET: secret },
  })
  const [port] = (await once(receiver.stdout, 'data')).map(chunk => String(chunk).trim())
  try {
    const blocks = Array.from(page.matchAll(/```sh\n([\s\S]*?)```/g), ([, block]) => block!)
    const script = blocks.filter(block => block.includes('curl')).join('')
    const here = script
      .replaceAll('http://localhost:9000', `http://127.0.0.1:${port}`)
      .replaceAll('http://localhost:9001/mcp', tools.url)
    const { stdout } = await promisify(execFile)('bash', ['-ec', `${quietCurl}\n${here}`], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        KEY: `Authorization: Bearer ${server.key}`,
        JSON: 'Content-Type: application/json',
        API: `${server.url}/api`,
      },
    })
    const [answer] = await answersAt(server.admin, '/api/apps/help/messages')
    await server.admin.patch('/api/agents/assistant', { model: 'script' })
    const { body } = await eventually(async () => {
      const asked = { text: 'call get_order {"id":"17"}', user: 'ann', tools: 'real' }
      const tried = await server.admin.post('/api/agents/assistant/test', asked)
      expect(tried.body.steps[0].outcome).toBe('ok')
      return tried
    })
    const unsigned = await fetch(`http://127.0.0.1:${port}/orders/17`)

    expect(stdout).toContain('"name":"look"')
    expect(stdout).toContain('leave.txt')
    expect(answer!.text).toContain('where is order 17?')
    expect(body.steps[0].result).toContain('{"id":"17","state":"sent","asked_by":"ann"}')
    expect(unsigned.status).toBe(401)
  } finally {
    receiver.kill()
    await once(receiver, 'exit')
    rmSync(folder, { recursive: true })
  }
})

/** Fails where the server refuses, and shows nothing of its progress. */
const quietCurl = 'curl() { command curl --silent --fail-with-body "$@"; }'
