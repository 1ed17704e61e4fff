import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig, settings } from '../../src/config/config.ts'
import { startServer } from '../support/server.ts'

const root = join(import.meta.dirname, '../..')
const pages = [join(root, 'README.md'), ...globSync('docs/*.md', { cwd: root }).map(page => join(root, page))]

interface Block {
  page: string
  language: string
  text: string
}

/** The fenced blocks of all pages. */
const blocks: Block[] = pages.flatMap(page =>
  [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language, text]) => ({
    page: page.slice(root.length + 1),
    language: language!,
    text: text!,
  })),
)

/** Files of settings: nothing but assignments, comments and empty lines, of more than one setting. */
const environments = blocks.filter(({ text }) => {
  const lines = text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('#'))
  return lines.length > 1 && lines.every(line => /^[A-Z][A-Z0-9_]*=/.test(line) && !/\$\(| (?:npm|node) /.test(line))
})

/** As systemd reads EnvironmentFile: comments are lines of their own, quotes around a value go (systemd.exec(5)). */
function readAsSystemd(text: string): Record<string, string> {
  const lines = text.split('\n').filter(line => line.trim() !== '' && !/^[#;]/.test(line))
  const pairs = lines.map(line => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()])
  return Object.fromEntries(pairs.map(([name, value]) => [name, value!.replace(/^(["'])(.*)\1$/, '$2')]))
}

/** As Docker reads --env-file: comments are lines of their own, and a value is all that follows. */
function readAsDocker(text: string): Record<string, string> {
  const lines = text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

test('there is a documented file of settings', () => {
  expect(environments.map(({ page }) => page)).toContain('docs/operations.md')
})

test.each(environments.map(({ page, text }) => [page, text] as const))(
  'a file of settings in %s means the same to systemd, Docker and .env, and a node takes it',
  (_, text) => {
    const [bySystemd, byDocker, byNode] = [readAsSystemd(text), readAsDocker(text), parseEnv(text)]

    expect(byDocker).toEqual(bySystemd)
    expect(byNode).toEqual(bySystemd)
    const names = settings.map(({ name }) => name)
    expect(Object.keys(bySystemd).filter(name => !names.includes(name))).toEqual([])
    expect(() => readConfig(bySystemd)).not.toThrow()
  },
)

test('the file of settings of the service starts a node, as systemd reads it', async () => {
  const { text } = environments.find(({ page }) => page === 'docs/operations.md')!
  // Its folder is there where the service is installed.
  const { DATA_DIR, ...others } = readAsSystemd(text)

  await using server = await startServer(others)

  expect(DATA_DIR).toBe('/var/lib/parley/data')
  expect((await server.request('GET', '/ready')).body).toBe('Ok')
  expect((await server.request('GET', '/metrics')).status).toBe(401)
  expect((await server.request('GET', '/metrics', { token: others.METRICS_TOKEN! })).status).toBe(200)
})

/** What stands in front of nodes, by language. */
const proxies = blocks.filter(
  ({ language, text }) =>
    ['nginx', 'haproxy', 'caddy'].includes(language) && /server \{|^frontend|reverse_proxy/m.test(text),
)
const headers = blocks.find(({ language, text }) => language === 'nginx' && text.startsWith('proxy_http_version'))!

test('whatever stands in front of nodes closes administration and figures, and sets the address of clients itself', () => {
  expect(proxies.map(({ language }) => language)).toEqual(expect.arrayContaining(['nginx', 'haproxy', 'caddy']))
  for (const { page, language, text } of proxies) {
    const at = `${language} in ${page}`
    expect([at, text]).toEqual([at, expect.stringMatching(/(?:location = |path )\/metrics/)])
    expect([at, text]).toEqual([at, expect.stringMatching(/(?:location |path )\/admin/)])
    // What adds to the header leaves in it what the client wrote.
    expect([at, text]).toEqual([at, expect.not.stringMatching(/proxy_add_x_forwarded_for|option forwardfor/)])
    if (language === 'haproxy') expect(text).toContain('http-request set-header X-Forwarded-For %[src]')
    if (language !== 'nginx') continue
    const passing = text.match(/location [^{]*\{[^}]*proxy_pass[^}]*\}/g) ?? []
    for (const location of passing)
      expect([at, location]).toEqual([at, expect.stringContaining('/etc/nginx/parley-headers')])
  }
  expect(headers.text).toContain('proxy_set_header X-Forwarded-For $remote_addr;')
  for (const page of pages)
    expect(readFileSync(page, 'utf8')).not.toMatch(/proxy_add_x_forwarded_for|option forwardfor/)
})

test('the image installs from the lock file before the code comes, and runs what npm start runs, not as root', () => {
  const file = readFileSync(join(root, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
  const [build = '', final = ''] = file.split(/^FROM /m).slice(1)
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }

  const order = ['COPY package.json package-lock.json', 'RUN npm ci --omit=dev', 'COPY src src'].map(line =>
    build.indexOf(line),
  )
  expect(order).toEqual(order.toSorted((one, other) => one - other))
  expect(order).not.toContain(-1)
  expect(final).not.toMatch(/npm|^FROM node/m)
  expect(final.indexOf('USER parley')).toBeGreaterThan(-1)
  const command = JSON.parse(/^CMD (\[.+\])$/m.exec(final)![1]!) as string[]
  expect(`exec ${command.join(' ')}`).toBe(scripts.start)
})

test('the image has what the server reads: code, guides, and what npm needs to install', () => {
  const file = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const allowed = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('!'))

  const copied = [...file.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '))
  const isSent = (path: string) => allowed.some(line => `${path}/`.startsWith(`${line.slice(1)}/`))
  expect(copied).toEqual(expect.arrayContaining(['src', 'docs', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']))
  expect(copied.filter(path => !isSent(path))).toEqual([])
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] }
  expect(copied).toEqual(expect.arrayContaining(workspaces.map(folder => `${folder}/package.json`)))
})

const isThere = (program: string) => spawnSync(program, ['-v']).status === 0
for (const program of ['nginx', 'haproxy'])
  if (!isThere(program))
    process.stdout.write(`Its documented configuration is not checked by ${program}: apt install ${program}\n`)

describe.skipIf(!isThere('nginx'))('nginx', () => {
  test.each(proxies.filter(({ language }) => language === 'nginx'))('takes the configuration in $page', ({ text }) => {
    inFolder(folder => {
      const config = join(folder, 'nginx.conf')
      writeFileSync(join(folder, 'parley-headers'), headers.text)
      const own = text
        .replaceAll('/etc/nginx/', `${folder}/`)
        .replaceAll(/\/etc\/ssl\/\S+\.(pem|key)/g, `${folder}/own.$1`)
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        of => `${of}_temp_path ${folder}/${of};`,
      )
      const around = `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')}`
      writeFileSync(config, `${around} ${own} }`)

      const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', config], { encoding: 'utf8' })

      expect([status, stderr]).toEqual([0, expect.any(String)])
    })
  })
})

describe.skipIf(!isThere('haproxy'))('haproxy', () => {
  test.each(proxies.filter(({ language }) => language === 'haproxy'))(
    'takes the configuration in $page',
    ({ text }) => {
      inFolder(folder => {
        const config = join(folder, 'haproxy.cfg')
        writeFileSync(config, text.replace('/etc/haproxy/site.pem', `${folder}/both.pem`))

        const { status, stderr } = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' })

        expect([status, stderr]).toEqual([0, expect.any(String)])
      })
    },
  )
})

/** Runs something in a folder with a certificate and its key. */
function inFolder(run: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'parley-docs-'))
  try {
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
    execFileSync('openssl', [...made, '-keyout', join(folder, 'own.key'), '-out', join(folder, 'own.pem')], {
      stdio: 'ignore',
    })
    writeFileSync(
      join(folder, 'both.pem'),
      readFileSync(join(folder, 'own.pem'), 'utf8') + readFileSync(join(folder, 'own.key'), 'utf8'),
    )
    run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the change log begins with the version of the package, and the lock file has the same', () => {
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const { version } = JSON.parse(read('package.json')) as { version: string }

  expect(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version)
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ version, packages: { '': { version } } })
})
