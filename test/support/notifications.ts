import { expect } from 'vitest'
import type { Body } from './client.ts'
import { eventually } from './eventually.ts'
import type { Person } from './server.ts'

/** The notifications of somebody, newest first, when there are so many. */
export function heard(person: Person, many: number): Promise<Body[]> {
  return eventually(async () => {
    const { body } = await person.get('/api/notifications')
    expect(body.count).toBe(String(many))
    return body.data ?? []
  })
}

/** How many somebody has; `query` narrows that down. */
export async function count(person: Person, query = ''): Promise<string> {
  return (await person.get(`/api/notifications?count_only=true${query}`)).body.count
}
