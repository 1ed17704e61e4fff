import type { GlobalCommands } from '../../engine/global/global-commands.ts'
import { server } from '../../auth/principal.ts'
import { Problem } from '../../lib/errors.ts'
import { createAgent } from './commands.ts'
import type { Provider } from './schema.ts'

export interface AssistantSettings {
  uid: string
  name: string
  provider: Provider
  model: string
  instructions: string | null
}

/** Makes the configured agent, unless its uid is taken, in the trash or not: an existing agent is left unchanged. */
export async function ensureAssistant(globalCommands: GlobalCommands, settings: AssistantSettings): Promise<void> {
  try {
    await globalCommands.run(createAgent, server, settings)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'validation-failed') throw error
  }
}
