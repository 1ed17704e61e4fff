import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A repair of a package that its authors have not released yet: one piece of text for another. */
interface Repair {
  file: string
  why: string
  from: string
  to: string
}

/**
 * For postgres 3.4.9, the newest release. Its issues 1066, 1154 and 1208 and pull request 1209 describe the first two
 * of these, its issues 1130 and 1223 the fourth, 751 and 1219 the sixth, 1119 and 1181 the seventh.
 */
export const repairs: Repair[] = [
  {
    file: 'postgres/src/connection.js',
    why: 'A query on a connection that has just closed was written to no socket, which ended the process.',
    from: `      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))

    if (stream)`,
    to: `      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))

    if (socket === null)
      return (queryError(q, Errors.connection('CONNECTION_CLOSED', options)), true)

    if (stream)`,
  },
  {
    file: 'postgres/src/connection.js',
    why: 'The same for anything else that is still to be written, such as a Sync.',
    from: `  function nextWrite(fn) {
    const x`,
    to: `  function nextWrite(fn) {
    if (socket === null)
      return (chunk = nextWriteTimer = null, false)

    const x`,
  },
  {
    file: 'postgres/src/connection.js',
    why: 'A write that was waiting when its connection closed kept all later writes of that connection from being sent.',
    from: `    clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
    to: `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`,
  },
  {
    file: 'postgres/src/connection.js',
    why: 'Queries sent between the error of a connection and its end were never answered, and the next one waited for them.',
    from: `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
`,
    to: `    if (initial || query || sent.length)
      error(Errors.connection('CONNECTION_CLOSED', options, socket))
    // The rest of an answer that was cut short.
    query = results = errorResponse = null
    result = new Result()
    rows = 0
`,
  },
  {
    file: 'postgres/src/connection.js',
    why: 'A server that closes each connection at its start was asked again without a pause, and for ever: ...',
    from: `    if (initial)
      return reconnect()`,
    to: `    if (initial && ++tried < host.length)
      return reconnect()
    tried = 0`,
  },
  {
    file: 'postgres/src/connection.js',
    why: '... each of several servers is asked once, ...',
    from: `    , retries = 0
    , length = 0`,
    to: `    , retries = 0
    , tried = 0
    , length = 0`,
  },
  {
    file: 'postgres/src/connection.js',
    why: '... and why the last one refused is told.',
    from: `    if (connection.queue === queues.connecting && options.host[retries + 1])
      return
`,
    to: `    if (connection.queue === queues.connecting && initial && tried + 1 < host.length)
      return
`,
  },
  {
    file: 'postgres/src/connection.js',
    why: 'A connection that was opened to be reserved was given to nobody, unless it fetched types first.',
    from: `      initial && !initial.reserve && execute(initial)
      options.shared.retries = retries = 0
      initial = null
      return
`,
    to: `      const isReserved = initial.reserve
      isReserved || execute(initial)
      // The server that let us in is the first to be asked next time.
      hostIndex = (hostIndex + host.length - 1) % host.length
      options.shared.retries = retries = tried = 0
      initial = null
      if (!isReserved)
        return
`,
  },
  {
    file: 'postgres/src/connection.js',
    why: 'After a query that failed behind its first rows, the result of the next one began with as many holes.',
    from: `    query = results = errorResponse = null
    result = new Result()
    connectTimer.cancel()`,
    to: `    query = results = errorResponse = null
    result = new Result()
    rows = 0
    connectTimer.cancel()`,
  },
  {
    file: 'postgres/src/index.js',
    why: 'Queries of a transaction that was lost with its connection ran on the next one, outside of any transaction: ...',
    from: `      , connection
      , prepare = null
`,
    to: `      , connection
      , lost = null
      , prepare = null
`,
  },
  {
    file: 'postgres/src/index.js',
    why: '... the end of the connection is kept ...',
    from: `        new Promise((_, reject) => connection.onclose = reject)
`,
    to: `        new Promise((_, reject) => connection.onclose = e => reject(lost = e))
`,
  },
  {
    file: 'postgres/src/index.js',
    why: '... and refuses them.',
    from: `        c.queue === full
          ? queries.push(q)
`,
    to: `        lost
          ? q.reject(lost)
          : c.queue === full
          ? queries.push(q)
`,
  },
]

/** Run by npm after every install. Fails where a package is no longer the one that a repair was made for. */
function apply({ file, why, from, to }: Repair): void {
  const path = join(import.meta.dirname, '../../../node_modules', file)
  const text = readFileSync(path, 'utf8')
  if (text.includes(to)) return
  if (text.split(from).length !== 2) {
    throw new Error(
      `src/postgres/driver/repair-postgres.ts does not fit ${file}. If an earlier version of Parley has repaired it, remove ` +
        `node_modules/postgres and run npm install again. Otherwise see whether this still needs a repair: ${why}`,
    )
  }
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
}

if (import.meta.main) for (const repair of repairs) apply(repair)
