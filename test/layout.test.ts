import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '../src')

/** Lowest first. A folder may import from itself and from the tiers before its own. */
const tiers = [
  ['lib', 'client'],
  ['react'],
  ['api', 'egress', 'cluster'],
  ['postgres'],
  ['bytes'],
  ['media'],
  ['log'],
  ['auth'],
  ['http'],
  ['engine'],
  ['presence'],
  ['jobs'],
  ['monitoring'],
  ['audit'],
  ['realtime'],
  ['agents'],
  ['resources'],
  ['mcp'],
  ['admin'],
  ['config'],
  ['node'],
  ['require-runtime.ts'],
  ['main.ts'],
  ['cli', 'demo', 'trial'],
]

/**
 * The folders of src/resources, lowest first: each imports only from itself and from those before it. What needs something
 * of a later one is given it in resources/index.ts, as users are given how to leave apps.
 */
const nouns = [
  ...['blobs', 'users', 'directories', 'apps'],
  // Rows of messages, posts and comments, their texts and lists, and what can hang on them.
  ...['content', 'stars', 'subscriptions', 'files', 'annotations', 'embeds', 'meetings', 'options', 'reactions'],
  // Messages, posts and comments whole, with all that hangs on them.
  ...['items', 'messages', 'posts', 'comments'],
  // Looks for all of these.
  'search',
  ...[
    'notifications',
    'webhooks',
    'agents',
    'snapshots',
    'tokens',
    'auth',
    'keys',
    'sign-ins',
    'hubs',
    'audit',
    'admin',
  ],
]

/** Most files of a folder. */
const mostFiles = 12

/** Files that read the system's time, or set timers, by themselves, with the reason. The clock is lib/clock.ts. */
const ownTimers: Record<string, string> = {
  'agents/extraction/extraction-process.ts': 'a process of its own, which watches its processor time',
  'engine/commit/committer.ts': 'set and cleared for each commit, so it is to cost no more than a timer',
  'lib/clock.ts': 'is the clock',
  'lib/process/isolated-process.ts': 'waits for a process, which no test can move',
  'lib/process/teardown.ts': 'keeps the process alive until what it ends has ended',
  'lib/process/thread.ts': 'watches the processor time of a thread',
  'media/decoder-process.ts': 'a process of its own, which watches its processor time',
  'postgres/driver/pool.ts': 'counts real time: what PostgreSQL takes for an answer',
  'postgres/embedded/embedded.ts': 'waits for a process, which no test can move',
}

/** Modules with state of their own, and what: it may be forgotten at any time, and would be found again. */
const moduleState: Record<string, string> = {
  'agents/tools/arguments/checking-thread.ts': 'compiled schemas, in a thread of its own',
  'api/json.ts': 'labels of keys, and the texts of the last seconds',
  'postgres/batch.ts': 'the text of the last instant',
  'resources/content/text/autolinks.ts': 'patterns that are placed before each use',
  'resources/items/represent.ts': 'what of a row never changes, for as long as the row is there',
  'resources/notifications/text.ts': 'the last text and what was made of it',
  'resources/users/represent.ts': 'what of a user is shown, for as long as the user is in memory',
}

/** Programs that a person starts, pages, and the client: they run in no node, and no test moves their clock. */
const programs = new Set(['admin', 'cli', 'client', 'demo', 'react', 'trial'])

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

test('a circle of imports, those of types included, stays within a folder of src, or a noun', () => {
  const imports = Map.groupBy(readImports(), ({ from }) => from)
  const reached = new Map([...imports.keys()].map(path => [path, reach(path, imports)]))

  const crossing = [...reached].flatMap(([from, found]) =>
    [...found].filter(to => familyOf(to) !== familyOf(from) && reached.get(to)?.has(from)).map(to => `${from}: ${to}`),
  )
  expect(crossing).toEqual([])
})

test('only what assembles a node knows the list of resources', () => {
  const readers = readImports().filter(({ to }) => to === 'resources/index.ts')

  expect(new Set(readers.map(({ from }) => top(from)))).toEqual(new Set(['node']))
})

test('what a resource answers and how it follows events is its own: no other resource imports it', () => {
  const between = readImports().filter(({ from, to }) => noun(from) && noun(from) !== noun(to) && isResource(noun(to)))

  const intruding = between.filter(({ to }) => /\/(index|consumer|[a-z-]*routes)\.ts$/.test(to))

  expect(intruding.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('a request opens an app by openApp, which has the directories of its caller at hand and refuses', () => {
  const asked = /\b(?:levelOf|requireRead|requireWrite|requireAdmin)\b|\bload\(\[(?:\w+\.)?by\.user\]\)/
  const asking = readSources().filter(
    ({ path, code }) => /^resources\/.*(?:routes|find|making\/make|prepare)\.ts$/.test(path) && asked.test(code),
  )

  expect(asking.map(({ path }) => path)).toEqual(['resources/apps/find.ts'])
})

test('the administration page takes types from the server, and no code but names of app types and of audit actions', () => {
  const inBundle = readImports().filter(
    ({ from, to, isType }) => top(from) === 'admin' && top(to) !== 'admin' && !isType,
  )

  expect(new Set(inBundle.map(({ to }) => to))).toEqual(new Set(['audit/actions.ts', 'resources/apps/kinds.ts']))
})

test('PostgreSQL compares names by fold_name alone, which is the same in each locale', () => {
  const comparing = readSources().filter(({ code }) => /\b(?:lower|upper)\(|\bilike\b|citext/i.test(code))

  expect(comparing.map(({ path }) => path)).toEqual([])
})

test('resources stand in an order, and import only from those before them', () => {
  const between = readImports().filter(({ from, to }) => noun(from) && noun(to) && noun(from) !== noun(to))

  const backward = between.filter(({ from, to }) => placeOf(to) >= placeOf(from))
  expect(backward.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('what hangs on items is declared in a folder of its own, and named in one list', () => {
  const parts = globSync('resources/**/part.ts', { cwd: src }).filter(path => noun(path) !== 'content')
  const nounsOfParts = new Set(parts.map(noun))

  const naming = readImports().filter(({ from, to }) => noun(from) === 'items' && nounsOfParts.has(noun(to)))
  expect(naming.map(({ from, to }) => `${from}: ${to}`).toSorted()).toEqual(
    parts.map(part => `resources/items/parts.ts: ${part}`).toSorted(),
  )
})

test('only postgres/ imports the driver of PostgreSQL', () => {
  const importers = readSources().filter(({ code }) => /from 'postgres'/.test(code))

  expect(importers.map(({ path }) => path).filter(path => top(path) !== 'postgres')).toEqual([])
})

test('what remembers the database is made anew with each history of it: nothing outside of a life is made of it', () => {
  const lasting = ['main.ts', 'node/life/succession.ts']

  const made = readImports().filter(({ from, isType }) => lasting.includes(from) && !isType)

  const known =
    /^(?:require-runtime\.ts|config\/|lib\/|node\/life\/|node\/storage\.ts|postgres\/(?:database|unavailable)\.ts)/
  expect(made.filter(({ to }) => !known.test(to)).map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('what is timed takes the clock', () => {
  const timed = readSources().filter(({ code }) => /\b(?:setTimeout|setInterval|Date\.now)\b/.test(code))

  const inNodes = timed.map(({ path }) => path).filter(path => !programs.has(top(path)))
  expect(inNodes.toSorted()).toEqual(Object.keys(ownTimers).toSorted())
})

test('modules have no state, but for what they may forget at any time', () => {
  const stateful = readSources().filter(({ code }) => hasState(code))

  const inNodes = stateful.map(({ path }) => path).filter(path => !programs.has(top(path)))
  expect(inNodes.toSorted()).toEqual(Object.keys(moduleState).toSorted())
})

test('no folder has more than a dozen files', () => {
  const folders = Map.groupBy(readSources(), ({ path }) => dirname(path))

  const larger = [...folders].filter(([, files]) => files.length > mostFiles)
  expect(larger.map(([folder, files]) => `src/${folder} has ${files.length} files`)).toEqual([])
})

test('no test is tried again but those that need a browser', () => {
  const retried = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(path =>
    /\bretry:/.test(readFileSync(join(import.meta.dirname, path), 'utf8')),
  )

  expect(retried.filter(path => path !== 'layout.test.ts')).toEqual(['support/browser.ts'])
})

test('the page about the code names files that are there', () => {
  const page = readFileSync(join(src, '../docs/architecture.md'), 'utf8')

  const named = [...page.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(path => !existsSync(join(src, '..', path)))).toEqual([])
  const [, order] = /## In which order to read\n([\s\S]*?)\n## /.exec(page)!
  expect(new Set([...order!.matchAll(/`src\/[^`]+`/g)].map(([path]) => path)).size).toBe(30)
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

/** All files that a file imports, directly or by others. */
function reach(start: string, imports: Map<string, Import[]>): Set<string> {
  const found = new Set<string>()
  const ahead = [start]
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    for (const { to } of imports.get(path) ?? []) {
      if (found.has(to)) continue
      found.add(to)
      ahead.push(to)
    }
  }
  return found
}

function familyOf(path: string): string {
  return noun(path) ?? top(path)
}

/** Every source file without its comments, as a path under src/. */
function readSources(): { path: string; code: string }[] {
  return globSync('**/*.ts', { cwd: src }).map(path => ({
    path,
    code: readFileSync(join(src, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''),
  }))
}

/** A variable of the module that is assigned again, or a collection or an object of it that is changed. */
function hasState(code: string): boolean {
  if (/^(?:export )?let /m.test(code)) return true
  return [...code.matchAll(/^(?:export )?const (\w+)[^=\n]*= (?:new |\[|\{)/gm)].some(([, name]) =>
    new RegExp(
      `\\b${name}(?:\\.(?:set|add|delete|clear|push|pop|shift|unshift|splice)\\(|(?:\\.\\w+|\\[[^\\]]+\\]) [-+|&?*]{0,2}= )`,
    ).test(code),
  )
}

function top(path: string): string {
  return path.split('/')[0]!
}

function noun(path: string): string | undefined {
  return /^resources\/([^/]+)\//.exec(path)?.[1]
}

function placeOf(path: string): number {
  const place = nouns.indexOf(noun(path)!)
  if (place < 0) throw new Error(`src/resources/${noun(path)} is not in the order of resources; give it a place`)
  return place
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
