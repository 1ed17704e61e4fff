import { expect } from 'vitest'
import type { Body, Client } from './client.ts'
import { eventually } from './eventually.ts'
import type { Person, Server } from './server.ts'

/** Makes an agent that works without a model: `model` is what it does. */
export async function makeAgent(
  { admin }: { admin: Client },
  { uid = 'assistant', name = 'Assistant', model = 'echo', ...more }: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await admin.post('/api/agents', { uid, name, provider: 'builtin', model, ...more })
  expect(status).toBe(201)
  return body.id
}

/** A chat of somebody with an agent. */
export async function chatWithAgent(person: Person, uid = 'assistant'): Promise<string> {
  const { status, body } = await person.post('/api/apps', { type: 'agent_chat', members: [uid] })
  expect(status).toBe(201)
  return body.id
}

/** What an agent has written as messages of an app, as soon as there are `count` of them, oldest first. */
export async function answersIn(
  reader: Client,
  app: string,
  { count = 1, agent = 'assistant', timeoutMs = 20_000 } = {},
): Promise<Body[]> {
  return answersAt(reader, `/api/apps/${app}/messages`, { count, agent, timeoutMs })
}

/** The same for any list of content. */
export async function answersAt(
  reader: Client,
  path: string,
  { count = 1, agent = 'assistant', timeoutMs = 20_000 } = {},
): Promise<Body[]> {
  return eventually(
    async () => {
      const { body } = await reader.get(`${path}?order_by=id&take=100&out=details`)
      const answers = (body.data ?? []).filter((item: Body) => item.created_by.uid === agent)
      expect(answers.length).toBeGreaterThanOrEqual(count)
      return answers
    },
    { timeoutMs, everyMs: 50 },
  )
}

/** Resolves when no run of the server is open any more. */
export async function allAnswered({ admin }: Pick<Server, 'admin'>, timeoutMs = 20_000): Promise<void> {
  await eventually(
    async () => {
      const { body } = await admin.get('/api/runs?take=100')
      const open = (body.data ?? []).filter(({ state }: Body) => ['queued', 'running', 'waiting'].includes(state))
      expect(open).toEqual([])
    },
    { timeoutMs, everyMs: 50 },
  )
}
