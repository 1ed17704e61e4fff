import type { Work } from '@parley/client'
import { useParley } from './context.tsx'
import type { AppRef } from './items.ts'
import { nothing, useLive, type Live } from './live.ts'

const noWork = nothing<readonly Work[]>([])

/** What agents are doing in an app, with their drafts, until their answers are items. */
export function useAgentWork(app: AppRef): Live<readonly Work[]> {
  const parley = useParley()
  return useLive(app === undefined ? undefined : parley.app(app).work, noWork)
}
