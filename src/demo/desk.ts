import { ask, type Access } from './workspace.ts'

/** What it is asked first. The model `script` does what such lines say, so that no network is needed. */
const question = [
  'Please book the garden room for our meeting.',
  'say I can do that.',
  'call desk__book_room {"room":"Garden","at":"15:00"}',
].join('\n')

/**
 * Makes an agent, the front desk, that asks whether it may book a room. The assistant gets the tool as well, for where it
 * is set to a real model. `person` has asked the desk already; its answer waits for their approval.
 */
export async function openDesk(access: Access, person: Access, pages: string): Promise<void> {
  const call = (method: string, path: string, body?: object) => ask(access, method, path, body)
  const isThere = await call('GET', '/api/agents/desk').catch(() => null)
  if (isThere === null) {
    await call('POST', '/api/agents', { uid: 'desk', name: 'Front desk', provider: 'builtin', model: 'script' })
  }
  // The address may be another one than at the last start.
  const server = { name: 'desk', url: `${pages}/tools`, description: 'Books rooms', approval_mode: 'always' }
  for (const agent of ['desk', 'assistant']) await call('PUT', `/api/agents/${agent}/mcp/desk`, server)
  if (isThere !== null) return
  const chat = await ask(person, 'POST', '/api/apps', { type: 'private_chat', members: ['desk'] })
  await ask(person, 'POST', `/api/apps/${chat.id}/messages`, { text: question })
}
