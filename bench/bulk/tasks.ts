import { setTimeout as delay } from 'node:timers/promises'
import type { Sql } from '../../src/postgres/sql.ts'
import type { Server } from '../server.ts'
import type { FullRoom } from './room.ts'

/** Something that concerns very many rows at once. */
export interface Task {
  name: string
  /** What is waited for; its time is `tookMs`. */
  ask: () => Promise<void>
  /** Resolves when what follows from it is done. */
  follow?: () => Promise<void>
  /** How long the answer may take; null where nothing is asked. */
  answerMs: number | null
  /** How long a message may wait that is sent meanwhile. */
  waitMs: number
}

interface TaskParts {
  server: Server
  /** Of the database, beside the server. */
  sql: Sql
  room: FullRoom
  /** The largest room of the data, and the token of somebody who has many unread notifications. */
  loud: number
  busiest: { token: string }
}

/** For this long people write while nothing else is done. */
const aloneMs = 15_000

/** How often it is looked whether what follows is done. */
const periodMs = 250

/** What follows from a task must be done by then; a guess. */
const deadlineMs = 1_800_000

/** In an order in which each finds what it needs; the last ones delete what was made for them. */
export function toTasks({ server, sql, room, loud, busiest }: TaskParts): Task[] {
  const { app, author } = room
  const call = (method: string, path: string, token?: string) => async () =>
    void (await server.call(method, path, undefined, token))
  const none = (select: () => Promise<object[]>) => () => until(async () => (await select()).length === 0)
  const mark = call('PUT', '/api/notifications/mark', busiest.token)
  const forgotten = none(() => sql`select from notifications where user_id = ${author} limit 1`)
  const gone = none(() => sql`select from apps where id = ${app}`)
  return [
    { name: 'nothing', ask: () => delay(aloneMs), answerMs: null, waitMs: 50 },
    { name: 'all notifications are marked as read', ask: mark, answerMs: 300, waitMs: 50 },
    { name: 'they are marked again', ask: mark, answerMs: 300, waitMs: 50 },
    {
      name: 'the author of a tenth of all messages is deleted',
      ask: call('DELETE', `/api/users/${author}`),
      follow: forgotten,
      answerMs: 1_000,
      waitMs: 100,
    },
    {
      name: 'the largest room goes to the trash',
      ask: call('POST', `/api/apps/${loud}/trash`),
      answerMs: 1_000,
      waitMs: 100,
    },
    {
      name: 'it is taken out again',
      ask: call('POST', `/api/apps/${loud}/restore`),
      answerMs: 1_000,
      waitMs: 100,
    },
    {
      name: 'the room of a tenth of all messages is deleted, with as many notifications',
      ask: call('DELETE', `/api/apps/${app}`),
      follow: gone,
      answerMs: 1_000,
      waitMs: 100,
    },
  ]
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + deadlineMs
  while (!(await isDone())) {
    if (performance.now() > endMs) throw new Error(`Something was not done after ${deadlineMs / 1000} s`)
    await delay(periodMs)
  }
}
