import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '../src')

/** Lowest first. A folder may import from itself and from the tiers before its own. */
const tiers = [
  ['lib', 'client'],
  ['storage', 'cluster'],
  ['monitoring'],
  ['actors'],
  ['audit'],
  ['auth'],
  ['http', 'realtime', 'delivery'],
  ['agents'],
  ['resources'],
  ['admin'],
  ['config.ts'],
  ['settings.ts'],
  ['require-runtime.ts'],
  ['main.ts'],
  ['cli', 'demo', 'trial'],
]

interface Import {
  from: string
  to: string
  /** Nothing of it is there when the program runs. */
  isType: boolean
}

test('imports point one way', () => {
  const imports = readImports()

  const upward = imports.filter(({ from, to }) => top(from) !== top(to) && tierOf(to) >= tierOf(from))

  expect(upward.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('only main.ts knows the list of resources', () => {
  const readers = readImports().filter(({ to }) => to === 'resources/index.ts')

  expect(readers.map(({ from }) => from)).toEqual(['main.ts'])
})

test('what a resource answers and how it follows events is its own: no other resource imports it', () => {
  const between = readImports().filter(({ from, to }) => noun(from) && noun(from) !== noun(to) && isResource(noun(to)))

  const intruding = between.filter(({ to }) => /\/(index|consumer|[a-z-]*routes)\.ts$/.test(to))

  expect(intruding.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('the administration page takes types from the server, and no code but the names of app types', () => {
  const inBundle = readImports().filter(
    ({ from, to, isType }) => top(from) === 'admin' && top(to) !== 'admin' && !isType,
  )

  expect(new Set(inBundle.map(({ to }) => to))).toEqual(new Set(['resources/apps/kinds.ts']))
})

/** Every import of one source file by another, as paths under src/. */
function readImports(): Import[] {
  return globSync('**/*.{ts,tsx}', { cwd: src }).flatMap(from =>
    [...readFileSync(join(src, from), 'utf8').matchAll(/^(?:import|export) [^'"]*from '(\.[^']+)'/gm)].map(match => ({
      from,
      to: relative(src, join(src, dirname(from), match[1]!)),
      isType: /^(?:import|export) type /.test(match[0]),
    })),
  )
}

function top(path: string): string {
  return path.split('/')[0]!
}

function noun(path: string): string | undefined {
  return /^resources\/([^/]+)\//.exec(path)?.[1]
}

/** Resources bring a manifest; a folder without one, such as content, is what several of them are made of. */
function isResource(name: string | undefined): boolean {
  return name !== undefined && existsSync(join(src, 'resources', name, 'index.ts'))
}

function tierOf(path: string): number {
  const tier = tiers.findIndex(names => names.includes(top(path)))
  if (tier < 0) throw new Error(`src/${top(path)} is in no tier; give it a place`)
  return tier
}
