import { createServer, connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { toPool } from '../../src/postgres/driver/pool.ts'
import { openConnection, openSql, type Sql } from '../../src/postgres/sql.ts'
import { isUnavailable } from '../../src/postgres/unavailable.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

test('a transaction that was lost with its connection writes nothing more', async () => {
  await using database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 5000 })
  const isConnectedAnew = Promise.withResolvers<void>()
  const insert = Promise.withResolvers<'written' | 'refused'>()

  const lost = sql.begin(async tx => {
    const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
    await database.sql`select pg_terminate_backend(${pid})`
    await isConnectedAnew.promise
    await tx`insert into directories (name, created_at) values ('late', now())`.then(
      () => insert.resolve('written'),
      () => insert.resolve('refused'),
    )
  })
  await expect(lost).rejects.toThrow()
  await eventually(() => sql`select 1`)
  isConnectedAnew.resolve()

  expect(await insert.promise).toBe('refused')
  expect(await database.sql`select name from directories`).toHaveLength(0)
  await sql.end({ timeout: 1 })
})

test('connections that are cut at any moment end no process, and are all made anew', async () => {
  await using database = await createDatabase()
  await using proxy = await startProxy(database)
  const sql = openSql({ url: proxy.url, connections: 4, statementTimeoutMs: 5000 })
  const cutting = new AbortController()
  const outcomes = { well: 0, failed: 0 }
  const asking = Array.from({ length: 8 }, async (_, i) => {
    while (!cutting.signal.aborted) {
      const asked = i % 2 === 0 ? sql`select 1` : sql.begin(async tx => [await tx`select 1`, await tx`select 2`])
      await asked.then(
        () => outcomes.well++,
        () => outcomes.failed++,
      )
    }
  })

  for (let cuts = 0; cuts < 200; cuts++) {
    await eventually(() => expect(proxy.sockets.size).toBeGreaterThan(0))
    proxy.cutOne(cuts)
    // One turn of the event loop, or several: each time something else is under way.
    for (let turns = 0; turns < cuts % 7; turns++) await new Promise(resolve => setImmediate(resolve))
  }
  cutting.abort()
  await Promise.all(asking)

  expect(outcomes.failed).toBeGreaterThan(0)
  const answers = await eventually(() => Promise.all(Array.from({ length: 40 }, () => sql`select 1 as one`)), {
    timeoutMs: 2000,
  })
  expect(answers.every(([row]) => row?.one === 1)).toBe(true)
  await sql.end({ timeout: 1 })
})

test('a server that ends every connection at its start is not waited for', async () => {
  const server = createServer(socket => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const sql = openSql({ url: `postgres://parley@127.0.0.1:${port}/none`, connections: 1, statementTimeoutMs: 5000 })

  await expect(sql`select 1`).rejects.toSatisfy(isUnavailable)
  await expect(sql.reserve()).rejects.toSatisfy(isUnavailable)
  // The only connection that there may be was given back.
  await expect(sql`select 1`).rejects.toSatisfy(isUnavailable)

  await sql.end({ timeout: 1 })
  server.close()
})

test('a pool whose first connection is to be reserved opens one', async () => {
  await using database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 5000 })

  const reserved = await sql.reserve()

  expect(await reserved`select 1 as one`).toEqual([{ one: 1 }])
  reserved.release()
  expect(await sql`select 2 as two`).toEqual([{ two: 2 }])
  await sql.end({ timeout: 1 })
})

test('arrays arrive as they are, in both directions', async () => {
  await using database = await createDatabase()
  const tags = ['a "quoted" b', '', 'c\\d,{}', 'two\nlines', 'NULL', null]

  const [row] = await database.sql`
    select ${[1, null, 2]}::bigint[] as ids, ${tags}::text[] as tags, ${[]}::bigint[] as none`

  expect(row).toEqual({ ids: [1, null, 2], tags, none: [] })
})

test('queries on connections that are ended at any moment are answered in full, or refused', async () => {
  await using database = await createDatabase()
  const pools = Array.from({ length: 4 }, (_, i) =>
    openSql({ url: database.url, connections: 1 + (i % 2), statementTimeoutMs: 5000, applicationName: 'asked' }),
  )
  const ending = new AbortController()
  const errors: unknown[] = []
  let answers = 0
  const asking = pools.map(async sql => {
    while (!ending.signal.aborted) {
      try {
        const [row] = await sql`
          select ${[1, 2]}::bigint[] as ids, ${['a', 'b']}::text[] as tags`
        expect(row).toEqual({ ids: [1, 2], tags: ['a', 'b'] })
        answers++
      } catch (error) {
        errors.push(error)
      }
    }
  })

  // Each time after a few answers more, so that connections end at their start, in their first query, and at work.
  for (let kills = 0; kills < 200; kills++) {
    const before = answers
    await eventually(() => expect(answers).toBeGreaterThanOrEqual(before + (kills % 4)), { everyMs: 1 })
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'asked'`
  }
  ending.abort()
  await Promise.all(asking)

  expect(errors.length).toBeGreaterThan(0)
  expect(errors.filter(error => !isUnavailable(error))).toEqual([])
  await Promise.all(pools.map(sql => sql.end({ timeout: 1 })))
})

test('what is asked on connections that fell silent is refused, and they are made anew', async () => {
  await using database = await createDatabase()
  await using proxy = await startProxy(database)
  const sql = openPool(proxy.url)
  const [isBegun, isSilent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begun = sql.begin(async tx => {
    await tx`select 1`
    isBegun.resolve()
    await isSilent.promise
    return tx`select 2`
  })
  await Promise.all([isBegun.promise, sql`select 1`, sql`select 2`, sql.begin(tx => tx`select 3`)])

  proxy.silence()
  isSilent.resolve()
  const asked = [begun, sql`select 4`, sql.unsafe('select 5'), sql.begin(tx => tx`select 6`)]
  const outcomes = await Promise.allSettled(asked)

  const refused = outcomes.map(outcome => outcome.status === 'rejected' && isUnavailable(outcome.reason))
  expect(refused).toEqual([true, true, true, true])
  expect(await Promise.all([sql`select 1 as one`, sql.begin(tx => tx`select 1 as one`)])).toEqual([
    [{ one: 1 }],
    [{ one: 1 }],
  ])
  await sql.end({ timeout: 1 })
})

test('no pool is so small that it waits for what fell silent', async () => {
  await using database = await createDatabase()
  await using proxy = await startProxy(database)
  const pools = [1, 2].map(connections => openSql({ url: proxy.url, connections, statementTimeoutMs: 500 }))
  await Promise.all(pools.map(sql => sql`select 1`))

  proxy.silence()
  const outcomes = await Promise.allSettled(pools.map(sql => sql`select 2`))

  expect(outcomes.map(outcome => outcome.status === 'rejected' && isUnavailable(outcome.reason))).toEqual([true, true])
  await Promise.all(pools.map(sql => sql.end({ timeout: 0 })))
})

test('a transaction that goes on takes as long as it takes, and nothing is given up for being idle', async () => {
  await using database = await createDatabase()
  const sql = openPool(database.url)
  const askPid = () => sql<{ pid: number }[]>`select pg_backend_pid() as pid`

  const [before, after] = await sql.begin(async tx => {
    const before = await askPid()
    for (let step = 0; step < 9; step++) await tx`select pg_sleep(0.4)`
    return [before, await askPid()]
  })

  expect(after).toEqual(before)
  await sql.end({ timeout: 1 })
})

/** A pool that waits two seconds for an answer. */
function openPool(url: string): Sql {
  const open = () => openConnection({ url, statementTimeoutMs: 5000 })
  return toPool({ open, size: 4, deadlineMs: 2000 })
}

/** Stands between postgres.js and PostgreSQL, to cut connections without anybody's leave. */
async function startProxy(database: Database) {
  const { hostname, pathname } = new URL(database.url)
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(`${decodeURIComponent(hostname)}/.s.PGSQL.5432`)
    sockets.add(client)
    for (const socket of [client, upstream]) {
      // A cut connection reports itself here as well.
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(client)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `postgres://parley@127.0.0.1:${port}${pathname}`,
    sockets,
    cutOne(turn: number) {
      const [victim] = [...sockets].slice(turn % sockets.size)
      if (turn % 2 === 0) victim?.destroy()
      else victim?.resetAndDestroy()
    },
    /** On the connections that there are, nothing arrives any more, and nobody is told. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
