// oxlint-disable oxc/no-async-endpoint-handlers -- express 5 takes them
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import pg from 'pg'
import { Server } from 'socket.io'

/**
 * A chat server as a team would write it in an afternoon: express, socket.io and pg with their defaults. Members write
 * and read the messages of their rooms, and those that are connected hear what is written. What it leaves out is what
 * such a server leaves out: unread counts, notifications, search, webhooks, repeats, and news for clients that were away.
 */
const { DATABASE_SOCKET, DATABASE, SECRET } = process.env
const pool = new pg.Pool({ host: DATABASE_SOCKET, user: 'parley', database: DATABASE, max: 20 })

await pool.query(`
  create table if not exists users (id bigint generated always as identity primary key, name text not null);
  create table if not exists apps (id bigint generated always as identity primary key, name text not null);
  create table if not exists members (
    app_id bigint references apps, user_id bigint references users, primary key (app_id, user_id));
  create index if not exists members_by_user on members (user_id);
  create table if not exists messages (
    id bigint generated always as identity primary key, app_id bigint not null references apps,
    created_by bigint not null references users, created_at timestamptz not null default now(), text text not null);
  create index if not exists messages_by_app on messages (app_id, id);`)

const app = express()
const server = createServer(app)
const io = new Server(server)
// Longer than clients and balancers keep a connection, so that none is closed under a request.
server.keepAliveTimeout = 65_000

/** The user that a token was signed for; null for any other text. */
function userOf(token) {
  const [user, signature] = String(token).split('.')
  const expected = createHmac('sha256', SECRET).update(user).digest('base64url')
  const isSigned =
    signature?.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  return isSigned ? user : null
}

async function isMember(request, response, next) {
  request.user = userOf(request.get('authorization')?.replace(/^Bearer /, ''))
  if (request.user === null) return response.status(401).json({ error: 'a token is missing' })
  const { rowCount } = await pool.query('select from members where app_id = $1 and user_id = $2', [
    request.params.app,
    request.user,
  ])
  if (rowCount === 0) return response.status(403).json({ error: 'only members may do that' })
  next()
}

app.use(express.json())

app.post('/api/apps/:app/messages', isMember, async (request, response) => {
  const text = request.body?.text
  if (typeof text !== 'string' || text === '') return response.status(400).json({ error: 'text is missing' })
  const { rows } = await pool.query(
    `insert into messages (app_id, created_by, text) values ($1, $2, $3)
      returning id, app_id, created_by, created_at, text`,
    [request.params.app, request.user, text],
  )
  io.to(request.params.app).emit('message', rows[0])
  response.status(201).json(rows[0])
})

/** The newest 25 messages, or those before an id. */
app.get('/api/apps/:app/messages', isMember, async (request, response) => {
  const { rows } = await pool.query(
    `select m.id, m.app_id, m.created_at, m.text, m.created_by, u.name from messages m join users u on u.id = m.created_by
      where m.app_id = $1 and ($2::bigint is null or m.id < $2) order by m.id desc limit 25`,
    [request.params.app, request.query.before ?? null],
  )
  response.json({ data: rows })
})

io.use((socket, next) => {
  socket.data.user = userOf(socket.handshake.auth.token)
  next(socket.data.user === null ? new Error('a token is missing') : undefined)
})

io.on('connection', async socket => {
  const { rows } = await pool.query('select app_id from members where user_id = $1', [socket.data.user])
  socket.join(rows.map(row => row.app_id))
  socket.emit('ready')
})

server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.once('disconnect', () => process.exit())
