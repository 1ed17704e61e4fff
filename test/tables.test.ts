import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '../src')

/**
 * Tables that several rooms write, and why. The list may only get shorter: a table is written in one room, and others ask
 * that for it, through a command, a statement that it exports, or what it registers.
 */
const severalWriters: Record<string, { rooms: string[]; why: string }> = {
  agent_runs: {
    rooms: ['agents', 'resources/agents', 'resources/apps'],
    why: 'approvals cancel runs; apps are purged',
  },
  agent_steps: { rooms: ['agents', 'resources/agents'], why: 'a run that is tried again loses its steps' },
  agents: { rooms: ['resources/agents', 'resources/apps'], why: 'apps are purged' },
  apps: { rooms: ['engine', 'resources/apps'], why: 'the engine moves their revs, the resource makes and purges them' },
  blocks: { rooms: ['resources/apps', 'resources/content'], why: 'apps are purged' },
  comment_totals: { rooms: ['resources/apps', 'resources/content'], why: 'apps are purged' },
  deliveries: {
    rooms: ['agents', 'resources/apps', 'resources/notifications', 'resources/webhooks'],
    why: 'what follows from a run or a notification is queued in the statement that makes it; apps are purged',
  },
  directory_members: {
    rooms: ['resources/directories', 'resources/users'],
    why: 'users are made with their directories',
  },
  edit_blocks: { rooms: ['resources/apps', 'resources/content'], why: 'apps are purged' },
  environment: { rooms: ['bytes', 'engine', 'log'], why: 'one row with a column for each of them' },
  file_versions: { rooms: ['resources/files', 'resources/items'], why: 'content that is deleted takes its files' },
  files: {
    rooms: ['resources/content', 'resources/files', 'resources/items'],
    why: 'comments on them are counted; content that is deleted takes its files',
  },
  members: {
    rooms: ['engine', 'resources/apps'],
    why: 'the engine keeps them; an app is made with its members, and purged',
  },
  notification_audits: { rooms: ['resources/apps', 'resources/notifications'], why: 'apps are purged' },
  notification_cursors: { rooms: ['resources/apps', 'resources/notifications'], why: 'apps are purged' },
  notifications: {
    rooms: ['resources/apps', 'resources/items', 'resources/notifications'],
    why: 'apps are purged; content that is deleted takes its notifications',
  },
  stars: { rooms: ['resources/items', 'resources/stars'], why: 'content that is deleted takes what hangs on it' },
  subscriptions: {
    rooms: ['resources/items', 'resources/subscriptions'],
    why: 'content that is deleted takes what hangs on it',
  },
  tokens: { rooms: ['jobs', 'resources/tokens'], why: 'those that have expired are removed with other leftovers' },
}

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
 * not seen: messages, posts and comments, which resources/content writes. Migrations and programs that work on a stopped
 * database (cli) write what they like.
 */
function findWriters(): Map<string, Set<string>> {
  const tables = new Set(
    globSync('postgres/migrations/*.sql', { cwd: src }).flatMap(path =>
      [...read(path).matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+)/g)].map(([, name]) => name!),
    ),
  )
  const writers = new Map<string, Set<string>>()
  for (const path of globSync('**/*.ts', { cwd: src })) {
    const room = /^(resources\/[^/]+|[^/]+)\//.exec(path)?.[1]
    if (room === undefined || room === 'cli') continue
    const code = read(path).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    for (const [, table] of code.matchAll(/\b(?:insert into|update|delete from)\s+(\w+)/g)) {
      if (!tables.has(table!)) continue
      writers.set(table!, (writers.get(table!) ?? new Set()).add(room))
    }
  }
  return writers
}

function read(path: string): string {
  return readFileSync(join(src, path), 'utf8')
}
