import type { Body } from './client.ts'
import type { Person, Server } from './server.ts'

/** A new app of a type, with members who may write in it. */
export async function appOf(server: Server, type: string, people: Person[], fields: object = {}): Promise<string> {
  const members = people.map(({ id }) => id)
  const { status, body } = await server.admin.post('/api/apps', { type, members, ...fields })
  if (status !== 201) throw new Error(`An app could not be made: ${JSON.stringify(body)}`)
  return body.id
}

/** Creates something and gives what came back. */
export async function create(who: Pick<Person, 'post'>, path: string, body: object = {}): Promise<Body> {
  const answer = await who.post(path, body)
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** The ids of a list's items. */
export const idsIn = ({ body }: { body: Body }): string[] => (body.data ?? []).map(({ id }: { id: string }) => id)
