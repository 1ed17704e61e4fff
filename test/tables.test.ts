import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '../src')

/**
 * Tables that several rooms write, and why. The list may only get shorter: a table is written in one room, and others ask
 * that for it, through a command, a statement that it exports, or what it registers.
 */
const severalWriters: Record<string, { rooms: string[]; why: string }> = {
  agent_runs: { rooms: ['agents', 'resources/agents'], why: 'approvals cancel runs' },
  agent_steps: { rooms: ['agents', 'resources/agents'], why: 'a run that is tried again loses its steps' },
  agents: {
    rooms: ['resources/agents', 'resources/apps'],
    why: 'an app that is purged is no source of theirs any more',
  },
  apps: { rooms: ['engine', 'resources/apps'], why: 'the engine moves their revs, the resource makes them' },
  deliveries: {
    rooms: ['agents', 'resources/apps', 'resources/notifications', 'resources/webhooks'],
    why: 'what follows from a run or a notification is queued in the statement that makes it; apps are purged',
  },
  directory_members: {
    rooms: ['resources/directories', 'resources/users'],
    why: 'users are made with their directories',
  },
  environment: { rooms: ['bytes', 'engine', 'log', 'resources'], why: 'one row with a column for each of them' },
  files: { rooms: ['resources/content', 'resources/files'], why: 'files count their comments, as posts do' },
  members: { rooms: ['engine', 'resources/apps'], why: 'the engine keeps them; an app is made with its members' },
}

/** What goes takes along what hangs on it, whatever table that is in: one transaction for each portion. */
const removers = ['resources/apps/purge/', 'resources/items/removal/']

test('a table is written in one room, but for those that are listed', () => {
  const writers = findWriters()

  const several = [...writers].filter(([, rooms]) => rooms.size > 1)
  const found = Object.fromEntries(several.map(([table, rooms]) => [table, [...rooms].toSorted()]))
  expect(found).toEqual(Object.fromEntries(Object.entries(severalWriters).map(([table, { rooms }]) => [table, rooms])))
  // Otherwise this test reads the wrong thing.
  expect(writers.size).toBeGreaterThan(40)
})

/**
 * Each table with the rooms whose SQL inserts into it, updates it or deletes from it. A table whose name is a parameter is
 * not seen: messages, posts and comments, which resources/content writes. Nor are deletes of the removers. The schema, migrations
 * and programs that work on a stopped database (cli) write what they like.
 */
function findWriters(): Map<string, Set<string>> {
  const tables = new Set(
    globSync('postgres/{schema,migrations}/*.sql', { cwd: src }).flatMap(path =>
      [...read(path).matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+)/g)].map(([, name]) => name!),
    ),
  )
  const writers = new Map<string, Set<string>>()
  for (const path of globSync('**/*.ts', { cwd: src })) {
    const room = /^(resources\/[^/]+|[^/]+)\//.exec(path)?.[1]
    if (room === undefined || room === 'cli') continue
    const code = read(path).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    const mayDelete = removers.some(remover => path.startsWith(remover))
    for (const [, verb, table] of code.matchAll(/\b(insert into|update|delete from)\s+(\w+)/g)) {
      if (!tables.has(table!) || (mayDelete && verb === 'delete from')) continue
      writers.set(table!, (writers.get(table!) ?? new Set()).add(room))
    }
  }
  return writers
}

function read(path: string): string {
  return readFileSync(join(src, path), 'utf8')
}
