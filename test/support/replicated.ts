import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresServer, toSharedUrl } from './postgres-server.ts'

/** A PostgreSQL of its own and a hot standby that streams from it. */
export interface Replicated extends AsyncDisposable {
  primary: PostgresServer
  standby: PostgresServer
  /** Both, as DATABASE_URL names several servers. */
  url: string
}

export async function startReplicated(): Promise<Replicated> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-replicated-'))
  const primary = await PostgresServer.start({ dir, isDurable: false })
  const standby = await primary.makeStandby()
  return {
    primary,
    standby,
    url: toSharedUrl(primary.url, [primary.port, standby.port]),
    async [Symbol.asyncDispose]() {
      await standby.stop()
      await primary.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
