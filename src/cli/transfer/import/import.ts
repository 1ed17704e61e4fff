import type { Log } from '../../../lib/log.ts'
import { StartFault } from '../../../lib/errors.ts'
import type { Bytes } from '../../../bytes/bytes.ts'
import { prepareEvents } from '../../../jobs/storage-jobs.ts'
import { holdMigrations, migrate } from '../../../postgres/migrate.ts'
import { openConnection, openSql, type Sql, type Tx } from '../../../postgres/sql.ts'
import type { UploadRoom } from '../../../resources/blobs/uploads/room.ts'
import { requireStopped } from '../../check/check.ts'
import type { Progress } from '../../progress.ts'
import type { LineOf } from '../format.ts'
import { fault, type Numbered } from '../lines.ts'
import { addApps, addMembers } from './apps.ts'
import { addAttached, addPictures, Touched, type AttachedLine } from './attached.ts'
import { Blobs } from './blobs.ts'
import { addItems, type ItemLine } from './items.ts'
import { orderApps } from './order.ts'
import { addDirectories, addFollows, addUsers } from './people.ts'
import { Places } from './places.ts'
import { Refs } from './refs.ts'
import { Numbers, type Commit } from './rows.ts'
import { listMentioned, Texts } from './texts.ts'

/** Lines of one transaction. A guess: enough that round trips do not count, and a few megabytes of memory. */
const batchLines = 2_000

/** A statement of a batch takes a second; one that waits for a lock or a slow disk may take longer. */
const statementTimeoutMs = 600_000

interface ImportParts {
  url: string
  bytes: Bytes
  uploadRoom: UploadRoom
  /** Validated lines, the header first. */
  lines: AsyncIterable<Numbered>
  /** Does everything, and undoes it. */
  isDryRun: boolean
  progress: Progress
  log: Log
}

/** What has been added, without what was there. */
export interface Imported {
  users: number
  apps: number
  items: number
}

/**
 * Adds the lines of a file to a deployment whose nodes are stopped, in transactions of some lines each. What was added
 * before, by an earlier run or an older file of the same source, is passed over. Nothing is told: no events are written, so
 * that the history of each app begins after what was imported.
 */
export async function importLines(parts: ImportParts): Promise<Imported> {
  const { url, log, isDryRun } = parts
  const options = { url, statementTimeoutMs, applicationName: 'parley admin' }
  const sql = openSql({ ...options, connections: 3 })
  const holder = openConnection({ ...options, idleTimeoutMs: 0 })
  try {
    await migrate(sql, log)
    await prepareEvents(sql, new Date())
    await requireStopped(
      sql,
      'Nodes are running on this database, which would not see what is imported. Stop them first.',
    )
    // A node that is started meanwhile waits for the end.
    await holdMigrations(holder)
    if (!isDryRun) return await read(sql, parts, work => sql.begin(work) as ReturnType<typeof work>)
    return await rehearse(sql, parts)
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), holder.end({ timeout: 1 })])
  }
}

/** One transaction for everything, which is rolled back. */
async function rehearse(sql: Sql, parts: ImportParts): Promise<Imported> {
  const undone = new Error('Rolled back')
  let imported: Imported | undefined
  await sql
    .begin(async tx => {
      imported = await read(sql, parts, work => work(tx))
      throw undone
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error
    })
  return imported!
}

/** Adds all lines, blobs as they come and others in batches. */
async function read(sql: Sql, { bytes, uploadRoom, lines, isDryRun, progress }: ImportParts, commit: Commit) {
  const reader = lines[Symbol.asyncIterator]()
  const first = await reader.next()
  if (first.done || first.value.type !== 'header') throw new StartFault('Line 1: It must be the header.')
  const { source } = first.value
  const refs = new Refs(source)
  const blobs = new Blobs({ sql, bytes, uploadRoom, refs, commit, isDryRun })
  const total: Imported = { users: 0, apps: 0, items: 0 }
  const numbers = new Numbers()
  let batch: Numbered[] = []
  let adding = Promise.resolve()
  /** Adds what was read while more is read. Resolves when what was read before that has been added. */
  const flush = async () => {
    const [some, before] = [batch, adding]
    batch = []
    adding = before.then(async () => {
      const added = await commit(tx => add(tx, refs, numbers, some)).catch((error: unknown) => {
        throw describe(error, some)
      })
      for (const name of ['users', 'apps', 'items'] as const) total[name] += added[name]
      progress.count('Import', some.length, 'lines')
    })
    adding.catch(() => {})
    await before
  }
  const settle = async () => {
    if (batch.length > 0) await flush()
    await adding
  }
  try {
    let next = await reader.next()
    while (!next.done) {
      const line = next.value
      if (line.type === 'blob') {
        await (refs.find('user', line.created_by) === undefined ? settle() : adding)
        await commit(tx => refs.load(tx, [line]))
        const content = toContent(reader)
        await blobs.add(line, content.bytes)
        next = await content.following()
        continue
      }
      if (line.type === 'header' || line.type === 'bytes')
        throw fault(line.number, `A line of type ${line.type} cannot be here.`)
      batch.push(line)
      if (batch.length >= batchLines) await flush()
      next = await reader.next()
    }
    await settle()
    await commit(tx => orderApps(tx, source, numbers))
    return total
  } finally {
    await adding.catch(() => {})
    blobs.close()
    await reader.return?.()
  }
}

/** The bytes in the lines after a blob, and the first other line. */
function toContent(reader: AsyncIterator<Numbered>) {
  let next: IteratorResult<Numbered> | null = null
  const bytes = (async function* () {
    for (;;) {
      next = await reader.next()
      if (next.done || next.value.type !== 'bytes') return
      yield Buffer.from(next.value.data, 'base64')
    }
  })()
  const following = async () => {
    if (next === null) for await (const _ of bytes);
    return next!
  }
  return { bytes, following }
}

/** Adds lines: what others name comes first, so that the order within a batch does not matter. */
async function add(tx: Tx, refs: Refs, numbers: Numbers, lines: Numbered[]) {
  const of = <Type extends Numbered['type']>(...types: Type[]) =>
    lines.filter((line): line is Numbered<LineOf<Type>> => (types as string[]).includes(line.type))
  const mentioned = listMentioned(lines)
  await refs.load(tx, lines, mentioned.refs)
  await numbers.draw(tx, countNumbers(lines))
  await addDirectories(tx, refs, of('directory'))
  const users = await addUsers(tx, refs, of('user'))
  const apps = await addApps(tx, refs, numbers, of('app'))
  const items = of('message', 'post', 'comment', 'file') as ItemLine[]
  const members = of('member')
  const appsOf = [...items, ...members].map(({ app, number }) => refs.need('app', app, number).id)
  const places = await Places.open(tx, [...new Set(appsOf)], listParents(refs, items))
  const touched = new Touched()
  const texts = await Texts.open(tx, refs, mentioned)
  const touch = touched.add.bind(touched)
  const added = await addItems({ tx, refs, numbers, places, texts, touch }, items)
  await addMembers(tx, refs, numbers, members)
  for (const { app, number } of members) places.change(refs.need('app', app, number).id)
  const attached = of('reaction', 'vote', 'star', 'subscription') as AttachedLine[]
  await addAttached(tx, refs, numbers, attached, touched)
  await places.save(tx, numbers)
  await touched.count(tx)
  await addFollows(tx, refs, of('follow'))
  await addPictures(tx, refs, of('picture'))
  await refs.save(tx)
  return { users, apps, items: added }
}

/** The items before this batch that its items belong to. */
function listParents(refs: Refs, items: readonly ItemLine[]): number[] {
  const parents = items.map(line => (line.type === 'comment' ? line.parent : line.type === 'file' ? line.item : null))
  return [...new Set(parents.flatMap(ref => (ref ? (refs.find('item', ref)?.id ?? []) : [])))]
}

/** No more than these are used: one for each line and part, and one for each app that they change. */
function countNumbers(lines: readonly Numbered[]): number {
  let count = 1
  for (const line of lines) {
    count += 2
    if (line.type === 'file') count += line.versions.length
    if ('options' in line) count += line.options?.length ?? 0
  }
  return count
}

/** What PostgreSQL refuses is told with the lines that it is in. */
function describe(error: unknown, lines: readonly Numbered[]): unknown {
  const { code = '', message, detail = '' } = error as { code?: string; message: string; detail?: string }
  if (!/^2[23]/.test(code)) return error
  const [first, last] = [lines[0]!.number, lines.at(-1)!.number]
  return new StartFault(`Lines ${first} to ${last}: ${message}. ${detail}`, { cause: error })
}
