import { fork, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import postgres from 'postgres'
import { apart } from '../apart.ts'
import type { Origin } from '../load/socket.ts'
import type { Parley } from '../parley.ts'
import { callApi, type Processes, type Server } from '../server.ts'
import type { AnyStage, Stage } from '../stage.ts'
import { texts, type Room } from '../world.ts'
import { placeServer } from './packages.ts'

const database = 'hand_made'
const secret = 'what-the-tokens-of-a-measurement-are-signed-with'

/**
 * The hand-made server (`hand-made.mjs`) in a process of its own, on a database of its own in the PostgreSQL that Parley
 * uses, with as many rooms, members and messages. Parley is held still while it is measured. `stop` ends it.
 */
export class Peer implements Server {
  readonly origins: Origin[]
  readonly #child: ChildProcess
  readonly #parley: Parley
  readonly rooms: Record<string, Room[]>

  private constructor(child: ChildProcess, port: number, parley: Parley, rooms: Record<string, Room[]>) {
    this.#child = child
    this.origins = [{ host: '127.0.0.1', port, isSecure: false }]
    this.#parley = parley
    this.rooms = rooms
  }

  /** Null where `--peers` was not asked for. */
  static async start({ parley, rooms, comparesPeers }: Stage): Promise<Peer | null> {
    if (!comparesPeers) return null
    await parley.sql`drop database if exists hand_made with (force)`
    await parley.sql`create database hand_made`
    const collecting = ['--expose-gc', '--import', join(import.meta.dirname, '../collect-on-signal.ts')]
    const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_SOCKET: parley.databaseDir }
    const child = fork(placeServer(), {
      ...apart,
      execArgv: ['--disable-warning=ExperimentalWarning', ...collecting],
      env: { ...env, DATABASE: database, SECRET: secret },
    })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The hand-made server ended with ${code}`)
    })
    const [port] = (await Promise.race([once(child, 'message'), ended])) as [number]
    ended.catch(() => {})
    return new Peer(child, port, parley, await copyRooms(parley, rooms))
  }

  get processes(): Processes {
    return { servers: [this.#child.pid!], postmaster: this.#parley.processes.postmaster }
  }

  call(method: string, path: string, body?: unknown, credential = ''): Promise<string> {
    return callApi(`http://127.0.0.1:${this.origins[0]!.port}`, { method, path, body, credential })
  }

  /** Measures this server in Parley's place. */
  measure<Result>(stage: Stage, run: (stage: AnyStage) => Promise<Result>): Promise<Result> {
    return this.#parley.holdStill(() => run({ ...stage, server: this, rooms: this.rooms }))
  }

  /** What its tables and indexes take on the disk. */
  async databaseBytes(): Promise<number> {
    const [row] = await this.#parley.sql<{ bytes: string }[]>`select pg_database_size(${database}) as bytes`
    return Number(row!.bytes)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

/** Gives the hand-made server rooms like those that Parley has: as many, with as many members and messages. */
async function copyRooms(parley: Parley, rooms: Record<string, Room[]>): Promise<Record<string, Room[]>> {
  const path = join(parley.databaseDir, '.s.PGSQL.5432')
  const sql = postgres({ path, user: 'parley', database, max: 1, onnotice: () => {} })
  const copies: Record<string, Room[]> = {}
  try {
    for (const [name, originals] of Object.entries(rooms)) {
      copies[name] = []
      for (const { members, messages } of originals) {
        copies[name].push(await makeRoom(sql, members.length, messages.length))
      }
    }
    await sql`vacuum (analyze)`
    return copies
  } finally {
    await sql.end()
  }
}

async function makeRoom(sql: postgres.Sql, members: number, messages: number): Promise<Room> {
  const [app] = await sql<{ id: string }[]>`insert into apps (name) values ('Room') returning id`
  const people = await sql<{ id: string }[]>`
    insert into users (name) select 'Person ' || i from generate_series(1, ${members}::int) i returning id`
  const ids = people.map(({ id }) => id)
  await sql`insert into members (app_id, user_id) select ${app!.id}, unnest(${ids}::bigint[])`
  const made = await sql<{ id: string }[]>`
    insert into messages (app_id, created_by, created_at, text)
    select ${app!.id}, (${ids}::bigint[])[1 + i % ${members}], now() - (${messages} - i) * interval '1 second',
      (${texts}::text[])[1 + i % ${texts.length}]
    from generate_series(1, ${messages}::int) i returning id`
  return {
    app: app!.id,
    members: ids.map(id => ({ id, token: sign(id) })),
    messages: made.map(({ id }) => Number(id)),
  }
}

function sign(user: string): string {
  return `${user}.${createHmac('sha256', secret).update(user).digest('base64url')}`
}
