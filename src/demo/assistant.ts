import { setTimeout } from 'node:timers/promises'
import { ask, signIn, type Access } from './workspace.ts'

const greeting = `I search the files in **Documents** and quote what I find, word for word. I am the demo's own, and no language
model: with \`ASSISTANT_PROVIDER=anthropic\` (or \`openai\`, \`gemini\`) and the vendor's key in its settings, one answers in my place.`

const question = 'How often should oak be oiled?'

/** Lets the assistant search the documents. `person` has asked it something already, and it has said what it is. */
export async function openAssistant(access: Access, person: Access): Promise<void> {
  const { id, provider } = await ask(access, 'PATCH', '/api/agents/assistant', { knowledge: ['demo-files'] })
  const described = { type: 'agent_chat', name: 'Assistant', members: ['assistant'] }
  const chat = await ask(person, 'PUT', '/api/apps/demo-assistant', described)
  if (chat.last_message !== undefined) return
  const say = (as: Access, text: string) => ask(as, 'POST', `/api/apps/${chat.id}/messages`, { text })
  if (provider === 'builtin') await say(await signIn(access, id), greeting)
  for (let tries = 0; tries < 50 && (await isReading(access)); tries++) await setTimeout(200)
  await say(person, question)
}

/** True while documents are not read yet. */
async function isReading(access: Access): Promise<boolean> {
  const { data } = (await ask(access, 'GET', '/api/agents/assistant/knowledge')) as { data?: { state: string }[] }
  return data === undefined || data.some(({ state }) => state === 'pending')
}
