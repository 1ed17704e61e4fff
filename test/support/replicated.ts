import { execFileSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinaries } from '../../src/storage/embedded/binaries.ts'
import { makeCluster, readPassword, superuser } from '../../src/storage/embedded/cluster.ts'
import { findOwner } from '../../src/storage/embedded/owner.ts'
import { placeBinaries } from '../../src/storage/embedded/place.ts'
import { launch } from '../../src/storage/embedded/programs.ts'
import { openSql, type Sql } from '../../src/storage/sql.ts'
import { eventually } from './eventually.ts'

/** One of the two servers. */
export interface ReplicaServer {
  url: string
  sql: Sql
  /** Ends it as a crash would. */
  crash(): Promise<void>
}

/** A PostgreSQL of its own and a hot standby that streams from it. */
export interface Replicated extends AsyncDisposable {
  primary: ReplicaServer
  standby: ReplicaServer
  /** Both, as DATABASE_URL names several servers. */
  url: string
  /** Commits wait from now on until the standby has them, too. */
  makeSynchronous(): Promise<void>
}

const standbyName = 'standby'

export async function startReplicated(): Promise<Replicated> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-replicated-'))
  chmodSync(dir, 0o755)
  const owner = await findOwner()
  if (owner !== null) chownSync(dir, owner.uid, owner.gid)
  const binaries = placeBinaries(await findBinaries(), owner)
  const [first, second] = [join(dir, 'first'), join(dir, 'second')]
  await makeCluster(first, binaries, owner)
  const password = readPassword(first)
  const started: { child: ChildProcess; sql: Sql }[] = []

  const start = async (cluster: string): Promise<ReplicaServer & { port: number }> => {
    const port = await findPort()
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      port,
      wal_level: 'replica',
      fsync: 'off',
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = launch(binaries.postgres, ['-D', cluster, ...args], owner, openSync(`${cluster}.log`, 'a'))
    const url = `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`
    const sql = openSql({ url, connections: 2, statementTimeoutMs: 30_000 })
    started.push({ child, sql })
    await eventually(() => sql`select 1`, { timeoutMs: 30_000 })
    const crash = async () => {
      // Its own signal for that: all its processes end at once, and nothing is written any more.
      child.kill('SIGQUIT')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    return { url, sql, port, crash }
  }

  const primary = await start(first)
  const backup = await primary.sql.reserve()
  await backup`select pg_backup_start('standby', true)`
  execFileSync('cp', ['-a', first, second])
  rmSync(join(second, 'postmaster.pid'))
  const [stopped] = await backup<[{ labelfile: string }]>`select labelfile from pg_backup_stop(false)`
  backup.release()
  const host = `host=127.0.0.1 port=${primary.port} user=${superuser} password=${password}`
  const write = (name: string, text: string) => {
    writeFileSync(join(second, name), text)
    if (owner !== null) chownSync(join(second, name), owner.uid, owner.gid)
  }
  write('backup_label', stopped.labelfile)
  write('standby.signal', '')
  appendFileSync(join(second, 'postgresql.auto.conf'), `primary_conninfo = '${host} application_name=${standbyName}'\n`)
  const standby = await start(second)

  return {
    primary,
    standby,
    url:
      primary.url.replace(/@[^/]*/, `@127.0.0.1:${primary.port},127.0.0.1:${standby.port}`) +
      '?target_session_attrs=read-write',
    async makeSynchronous() {
      await primary.sql.unsafe(`alter system set synchronous_standby_names = '${standbyName}'`)
      await primary.sql`select pg_reload_conf()`
      await eventually(
        async () => {
          const [row] = await primary.sql`select sync_state from pg_stat_replication`
          if (row?.sync_state !== 'sync') throw new Error('The standby is not synchronous yet')
        },
        { timeoutMs: 10_000 },
      )
    },
    async [Symbol.asyncDispose]() {
      for (const { child, sql } of started) {
        await sql.end({ timeout: 1 })
        child.kill('SIGQUIT')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
