import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

const folder = join(import.meta.dirname, '../typed-client')
const generated = join(folder, 'generated')
const run = promisify(execFile)

test('a typed client can be generated from the served description, compiles, and holds a conversation', async () => {
  await using server = await startServer()
  const { body } = await server.request('GET', '/api/openapi.json?scalars=string')
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(generated)
  writeFileSync(join(generated, 'openapi.json'), JSON.stringify(body))

  const generator = join(createRequire(join(folder, 'package.json')).resolve('openapi-typescript'), '../../bin/cli.js')
  await run(process.execPath, [generator, 'openapi.json', '--output', 'api.d.ts'], { cwd: generated })
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--allowImportingTsExtensions',
    '--module',
    'nodenext',
  ]
  const compiler = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc')
  const compiled = await run(process.execPath, [compiler, ...options, '--target', 'es2024', 'client.ts'], {
    cwd: folder,
  })
  const { converse } = (await import(join(folder, 'client.ts'))) as {
    converse: (url: string, key: string) => Promise<string[]>
  }

  expect(compiled.stdout).toBe('')
  expect(await converse(server.url, server.key)).toEqual(['two', 'one', '404'])
})

test('integers are described in the form that was asked for', async () => {
  await using server = await startServer()
  const typeOf = async (query: string) => {
    const { body } = await server.request('GET', `/api/openapi.json${query}`)
    return body.components.schemas.Blob.properties.id.type as string | string[]
  }

  expect(await typeOf('')).toEqual(['string', 'integer'])
  expect(await typeOf('?scalars=string')).toBe('string')
  expect(await typeOf('?scalars=number')).toBe('integer')
})
