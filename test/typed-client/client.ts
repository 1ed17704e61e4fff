import createClient from 'openapi-fetch'
import type { paths } from './generated/api.d.ts'

/** A conversation through a client whose types were made from the served description; compiled before it runs. */
export async function converse(baseUrl: string, key: string): Promise<string[]> {
  const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })

  const ann = await api.POST('/api/users', { body: { uid: 'typed-ann', name: 'Ann' } })
  if (ann.error !== undefined) throw new Error(ann.error.detail)
  const room = await api.POST('/api/apps', { body: { type: 'chat', name: 'Typed', members: [ann.data.id] } })
  if (room.error !== undefined) throw new Error(room.error.detail)
  const app: string = room.data.id
  for (const text of ['one', 'two']) {
    const sent = await api.POST('/api/apps/{app}/messages', { params: { path: { app } }, body: { text } })
    if (sent.error !== undefined) throw new Error(sent.error.detail)
  }
  const list = await api.GET('/api/apps/{app}/messages', { params: { path: { app }, query: { order_by: 'id desc' } } })
  if (list.error !== undefined) throw new Error(list.error.detail)

  const missing = await api.GET('/api/apps/{app}', { params: { path: { app: 'nobody-has-this' } } })
  return [...(list.data.data ?? []).map(message => message.plain ?? ''), `${missing.error?.status}`]
}
