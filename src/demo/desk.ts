import { setTimeout } from 'node:timers/promises'
import { ask, type Access } from './workspace.ts'

const question = 'Please book the garden room for our meeting at three.'

/** What the model `script` is to do, so that no network is needed. */
const orders = ['say I can do that.', 'call desk__book_room {"room":"Garden","at":"15:00"}'].join('\n')

/**
 * Makes an agent, the front desk, that asks for approval to book a room. The assistant gets the tool too, for real
 * models. `person` has asked the desk already, and its answer waits for their approval.
 */
export async function openDesk(access: Access, person: Access, pages: string): Promise<void> {
  const call = (method: string, path: string, body?: object) => ask(access, method, path, body)
  const isThere = await call('GET', '/api/agents/desk').catch(() => null)
  if (isThere === null) {
    await call('POST', '/api/agents', { uid: 'desk', name: 'Front desk', provider: 'builtin', model: 'script' })
  }
  // The port may differ from the last start.
  const server = { name: 'desk', url: `${pages}/tools`, description: 'Books rooms', approval_mode: 'always' }
  for (const agent of ['desk', 'assistant']) await call('PUT', `/api/agents/${agent}/mcp/desk`, server)
  if (isThere !== null) return
  const chat = await ask(person, 'POST', '/api/apps', { type: 'private_chat', members: ['desk'] })
  const { id } = await ask(person, 'POST', `/api/apps/${chat.id}/messages`, { text: `${question}\n${orders}` })
  // Once the desk has asked for approval, the orders have done their work, and need not be read by people.
  for (let tries = 0; tries < 50 && Number((await call('GET', '/api/approvals')).count) === 0; tries++)
    await setTimeout(200)
  await ask(person, 'PATCH', `/api/messages/${id}`, { text: question })
}
