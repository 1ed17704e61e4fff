import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { Guides } from '../src/http/site/guides.ts'
import { startServer } from './support/server.ts'

const root = join(import.meta.dirname, '..')
const guides = new Guides()
const pages = globSync(['*.md', 'docs/*.md'], { cwd: root })
const read = (page: string) => readFileSync(join(root, page), 'utf8')

/** Pages whose commands go on from one to the next. */
const told = ['api', 'concepts', 'errors', 'get-started', 'messages-and-files', 'moving', 'permissions']

/** Each request's status is written down, and compared with the number in a comment at the end of its line. */
const prelude = `
curl() { command curl --silent --show-error --output answer --write-out '%{http_code}\\n' "$@" >> statuses; cat answer; }
after() {
  while read -r status; do
    if [[ $1 == 2?? && $status != 2?? || $1 != 2?? && $status != $1 ]]; then echo "$status: $2" >> wrong; cat answer >> wrong; fi
  done < statuses
  : > statuses
}
`

test.for(told)('the commands and programs of docs/%s.md work, one after the other', { timeout: 60_000 }, async name => {
  await using server = await startServer()
  const folder = mkdtempSync(join(tmpdir(), 'parley-guide-'))
  const blocks = [...read(`docs/${name}.md`).matchAll(/^```(sh|js)\n([\s\S]*?)^```/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }))
  const script = blocks.map(({ language, code }, i) => {
    if (language === 'sh') return toScript(code)
    writeFileSync(join(folder, `${i}.mjs`), code)
    return `API=$API TOKEN=$TOKEN node ${i}.mjs || echo "program ${i}" >> wrong`
  })
  const API = `${server.url}/api`
  const env = {
    ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, PARLEY_KEY: server.key, API },
    ...{ KEY: `Authorization: Bearer ${server.key}`, JSON: 'Content-Type: application/json' },
  }

  writeFileSync(join(folder, 'guide.sh'), `${prelude}\n: > statuses\n: > wrong\n${script.join('\n')}`)
  const run = await promisify(execFile)('bash', ['guide.sh'], { cwd: folder, env })

  expect([readFileSync(join(folder, 'wrong'), 'utf8'), run.stderr]).toEqual(['', ''])
  expect(blocks.filter(({ code }) => /curl |fetch\(/.test(code)).length).toBeGreaterThan(0)
  rmSync(folder, { recursive: true })
})

/** Without what starts a server or says where one is: that is here already. */
function toScript(code: string): string {
  const lines = code.split('\n').filter(line => !/^(?:npm |KEY=)/.test(line) && line.trim() !== '')
  return lines
    .map(line => `${line}\nafter ${/# (\d{3})$/.exec(line)?.[1] ?? 200} '${line.replaceAll("'", '')}'`)
    .join('\n')
}

test('every guide is in the table of contents', () => {
  const listed = guides.chapters.flatMap(({ links }) => links.map(({ path }) => path.replace('/docs/', '')))

  const written = pages.map(page => basename(page, '.md').toLowerCase()).filter(name => name !== 'readme')
  expect(listed.toSorted()).toEqual(written.toSorted())
})

test('every link of a guide and of the README leads to a page that is there, and to a heading of it', () => {
  const broken = pages.flatMap(page =>
    [...read(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
      .map(([, link, source]) => (link ?? source)!)
      .filter(target => !/^(?:https?:|@|\/)/.test(target) && !isThere(page, target))
      .map(target => `${page}: ${target}`),
  )

  expect(broken).toEqual([])
})

function isThere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (!globSync(file, { cwd: root }).length) return false
  if (anchor === undefined) return true
  const name = basename(file, '.md').toLowerCase()
  return guides.page(name)?.headings.some(({ id }) => id === anchor) ?? false
}

test('every code of a refusal is explained, under the heading that its help leads to', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map(read)
  const declared = sources.flatMap(source => [
    ...[...source.matchAll(/\b(?:problem|new Problem)\(\s*(\d{3}),\s*'([a-z-]+)'/g)].map(([, status, code]) => [
      code!,
      status!,
    ]),
    ...[...(/const faults = \{([\s\S]*?)\} as const/.exec(source)?.[1] ?? '').matchAll(/^ {2}'([a-z-]+)':/gm)].map(
      ([, code]) => [code!, '401'],
    ),
  ])

  const explained = [...read('docs/errors.md').matchAll(/^### ([a-z-]+)\n\n(\d{3})\. ./gm)].map(([, code, status]) => [
    code!,
    status!,
  ])

  expect(declared.length).toBeGreaterThan(60)
  expect(Object.fromEntries(explained)).toEqual(Object.fromEntries(declared))
})

test('the README is read in a minute', () => {
  expect(read('README.md').length).toBeLessThan(7 * 1024)
})
