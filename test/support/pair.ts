import { createDatabase } from './database.ts'
import { startRedis } from './redis.ts'
import { startServer, type Server } from './server.ts'
import type { Sql } from '../../src/postgres/sql.ts'

/** Two nodes on one database. */
export interface Pair extends AsyncDisposable {
  here: Server
  there: Server
  sql: Sql
}

export async function startPair({ hasRedis }: { hasRedis: boolean }): Promise<Pair> {
  const parts: AsyncDisposable[] = []
  const use = <Part extends AsyncDisposable>(part: Part) => {
    parts.unshift(part)
    return part
  }
  const { url, sql } = use(await createDatabase())
  const redis = hasRedis ? { REDIS_URL: use(await startRedis()).url } : {}
  const start = async () => use(await startServer({ DATABASE_URL: url, ...redis }))
  return {
    here: await start(),
    there: await start(),
    sql,
    async [Symbol.asyncDispose]() {
      for (const part of parts) await part[Symbol.asyncDispose]()
    },
  }
}
