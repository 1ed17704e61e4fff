import { people } from './page/people.ts'

/** An API and a credential for it. */
export interface Access {
  url: string
  key: string
}

// The demo trusts the API's answers, which the API's own tests check.
type Answer = Record<string, unknown> & { id: number; access_token: string }

/** Calls the API, with numbers as numbers. Rejects with the message of a refusal. */
export async function ask({ url, key }: Access, method: string, path: string, body?: object): Promise<Answer> {
  const isForm = body instanceof FormData
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      prefer: 'scalars=number',
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} was refused with ${response.status}: ${text}`)
  return (text === '' ? {} : JSON.parse(text)) as Answer
}

const { ada, ben, cleo } = people
const names = { ada, ben, cleo }

/**
 * Fills an empty workspace: users, a room with unread messages, a private chat, a feed with a poll, files. Returns the
 * ids of the users. Existing data is left unchanged.
 */
export async function seed(access: Access): Promise<number[]> {
  const ids: number[] = []
  for (const [uid, name] of Object.entries(names)) {
    ids.push((await ask(access, 'PUT', `/api/users/${uid}`, { name })).id)
  }
  const [ada, ben, cleo] = await Promise.all(ids.map(id => signIn(access, id)))
  if (ada === undefined || ben === undefined || cleo === undefined) throw new Error('The demo needs three people')

  const lobby = await ask(ada, 'PUT', '/api/apps/demo-chat', { type: 'chat', name: 'Lobby' })
  if (lobby.last_message === undefined) await fill({ ada, ben, cleo, ids, lobby: lobby.id })
  return ids
}

interface Workspace {
  ada: Access
  ben: Access
  cleo: Access
  ids: number[]
  lobby: number
}

async function fill({ ada, ben, cleo, ids, lobby }: Workspace): Promise<void> {
  const say = (as: Access, app: number, text: string, more = {}) =>
    ask(as, 'POST', `/api/apps/${app}/messages`, { text, ...more })

  await ask(ben, 'PUT', '/api/apps/demo-chat', { type: 'chat', name: 'Lobby' })
  await say(ada, lobby, 'Welcome to the **lobby**!')
  const question = await say(ben, lobby, 'Who brings the cake?', { options: [{ text: 'Ada' }, { text: 'Cleo' }] })
  await ask(ada, 'POST', `/api/messages/${question.id}/reactions`, { content: '🎂' })

  const room = await ask(ada, 'POST', '/api/apps', { type: 'chat_room', name: 'Launch', members: ids })
  await say(ada, room.id, 'We launch on Friday.')
  await say(cleo, room.id, 'The press kit is ready, please have a look.')
  const chat = await ask(ada, 'POST', '/api/apps', { type: 'agent_chat', members: ['assistant'] })
  await say(ada, chat.id, 'What can you do?')
  const pair = await ask(ben, 'POST', '/api/apps', { type: 'private_chat', members: [ids[0]] })
  await say(ben, pair.id, 'Lunch?')

  const feed = await ask(ada, 'PUT', '/api/apps/demo-feed', { type: 'posts', name: 'News' })
  await ask(ada, 'POST', `/api/apps/${feed.id}/posts`, { text: 'The new office has a **garden**.' })
  const poll = { text: 'What shall we plant?', options: [{ text: 'Tomatoes' }, { text: 'Roses' }] }
  await ask(ada, 'POST', `/api/apps/${feed.id}/posts`, poll)

  const files = await ask(ada, 'PUT', '/api/apps/demo-files', { type: 'files', name: 'Papers' })
  for (const [name, text] of [
    ['agenda.txt', 'Monday: plans.'],
    ['notes.md', '# Notes\n\nMuch was said.'],
  ] as const) {
    const form = new FormData()
    form.append('blob', new Blob([text]), name)
    const blob = await ask(ada, 'POST', '/api/blobs', form)
    await ask(ada, 'POST', `/api/apps/${files.id}/files`, { blob_id: blob.id })
  }
  const book = await ask(ada, 'PUT', '/api/apps/demo-comments', { type: 'comments', name: 'Guest book' })
  await ask(ada, 'POST', `/api/apps/${book.id}/comments`, { text: 'Please sign here.' })
}

/** The credential of one of the users. */
export async function signIn({ url, key }: Access, id: number): Promise<Access> {
  return { url, key: (await ask({ url, key }, 'POST', `/api/users/${id}/tokens`)).access_token }
}

/** Something that Ada should know: the others mention her, and write to her. */
export async function enliven(access: Access, [ada, ben, cleo]: number[]): Promise<void> {
  const { count } = await ask(await signIn(access, ada!), 'GET', '/api/notifications')
  if (Number(count) > 1) return
  const [asBen, asCleo] = [await signIn(access, ben!), await signIn(access, cleo!)]
  await ask(asBen, 'POST', '/api/apps/demo-chat/messages', {
    text: '[Ada Park](@ada), the chairs are oiled. Do you want to see them?',
  })
  await ask(asCleo, 'POST', '/api/apps/demo-feed/posts', {
    text: 'Thank you all for the kind words. [Ada Park](@ada), shall we print the catalogue on uncoated paper?',
  })
}
