import sharp from 'sharp'
import { create } from '../support/content.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import type { Body } from '../support/client.ts'

/** A picture of two pixels. */
export const png = await sharp({ create: { width: 2, height: 1, channels: 3, background: 'red' } })
  .png()
  .toBuffer()

/** A server with a few people, and whatever an operation needs to work on. */
export interface World extends AsyncDisposable {
  server: Server
  /** Whoever makes what is made here. */
  ann: Person
  /** May read what Ann makes, and no more. */
  ben: Person
  /** Sees nothing of it. */
  eve: Person
  /** Shares a directory with nobody but the directories that are made here. */
  dirk: Person
  /** A site on this machine that pages can be embedded from. */
  site: Receiver
  /** A name that was not used before. */
  name(): string
  app(type: string, fields?: object): Promise<Body>
  message(fields?: object): Promise<Body>
  post(fields?: object): Promise<Body>
  /** On a post. */
  comment(fields?: object): Promise<Body>
  file(): Promise<Body>
  blob(): Promise<Body>
  agent(fields?: object): Promise<Body>
  user(fields?: object): Promise<Body>
  directory(): Promise<Body>
}

export async function createWorld(): Promise<World> {
  const server = await startServer({ FETCH_ALLOW: '127.0.0.0/8' })
  const { admin } = server
  const people = await Promise.all(['Ann', 'Ben', 'Eve', 'Dirk'].map(name => server.person(name)))
  const [ann, ben, eve, dirk] = people as [Person, Person, Person, Person]
  const page = '<!doctype html><title>A page</title>'
  const site = await startReceiver(answer(200, page, { 'content-type': 'text/html' }))
  let names = 0
  const name = () => `name-${++names}`

  const app = async (type: string, fields: object = {}) => {
    const made = await create(ann, '/api/apps', { type, ...fields })
    if (type.startsWith('private') || type.startsWith('agent')) return made
    await create({ post: ann.put }, `/api/apps/${made.id}/members/${ben.id}`, { access: 'read' })
    return made
  }
  const inNew =
    (type: string, plural: string) =>
    async (fields: object = { text: 'Hi' }) =>
      create(ann, `/api/apps/${(await app(type)).id}/${plural}`, fields)
  const post = inNew('posts', 'posts')
  const blob = async () => (await upload(ann, { name: `${name()}.png`, content: png })).body

  return {
    server,
    ann,
    ben,
    eve,
    dirk,
    site,
    name,
    app,
    message: inNew('chat', 'messages'),
    post,
    comment: async (fields: object = { text: 'Hi' }) => create(ann, `/api/posts/${(await post()).id}/comments`, fields),
    file: async () => create(ann, `/api/apps/${(await app('files')).id}/files`, { blob_id: (await blob()).id }),
    blob,
    agent: fields =>
      create(admin, '/api/agents', { uid: name(), name: 'Agent', provider: 'builtin', model: 'm', ...fields }),
    user: fields => create(admin, '/api/users', { uid: name(), ...fields }),
    async directory() {
      const made = await create(admin, '/api/directories', { name: name() })
      await admin.put(`/api/directories/${made.id}/members/${dirk.id}`)
      return made
    },
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
