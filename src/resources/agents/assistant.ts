import type { GlobalCommands } from '../../engine/global-commands.ts'
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

/** Makes an agent as it is set, unless somebody has its uid, in the trash or not: what is there is left alone. */
export async function ensureAssistant(globalCommands: GlobalCommands, settings: AssistantSettings): Promise<void> {
  try {
    await globalCommands.run(createAgent, server, settings)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'validation-failed') throw error
  }
}
