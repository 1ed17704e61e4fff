import { client, type Body, type Client } from '../support/client.ts'
import { programKey } from '../support/process.ts'

/** Somebody who writes or listens. */
export interface Person {
  id: number
  token: string
}

export interface World {
  /** They are members of every app. */
  people: Person[]
  apps: number[]
}

/** Chats with few members that are closed to others: there, read markers are told as well. */
export async function makeWorld(url: string, { people, apps }: { people: number; apps: number }): Promise<World> {
  const admin = client(url, programKey)
  const world: World = { people: [], apps: [] }
  for (let i = 1; i <= people; i++) {
    const { id } = await created(admin, '/api/users', { uid: `person-${i}`, name: `Person ${i}` })
    const { access_token: token } = await created(admin, `/api/users/${id}/tokens`)
    world.people.push({ id: Number(id), token })
  }
  const members = world.people.map(({ id }) => id)
  for (let i = 1; i <= apps; i++) {
    const { id } = await created(admin, '/api/apps', { type: 'chat', uid: `room-${i}`, members })
    world.apps.push(Number(id))
  }
  return world
}

export async function registerWebhook(url: string, payload_url: string, triggers: string[]): Promise<void> {
  await created(client(url, programKey), '/api/webhooks', { payload_url, triggers })
}

async function created(admin: Client, path: string, body?: object): Promise<Body> {
  const answer = await admin.post(path, body)
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
