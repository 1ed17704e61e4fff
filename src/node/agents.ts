import { openProviders } from '../agents/providers/table.ts'
import { toProviderSettings, toRunSettings, toToolSettings } from '../config/part-options.ts'
import { findDeployment } from '../log/shared-log.ts'
import type { Realtime } from '../realtime/realtime.ts'
import { Indexer } from '../resources/agents/knowledge/indexer.ts'
import { countRuns } from '../resources/agents/runs/counts.ts'
import { RunFrames } from '../resources/agents/runs/prompts/frames.ts'
import { MaterialReader } from '../resources/agents/runs/prompts/materials.ts'
import { startRunner } from '../resources/agents/runs/start.ts'
import { AgentTools } from '../resources/agents/tools.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { Files } from './files.ts'
import type { Links } from './links.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

export type Agents = Awaited<ReturnType<typeof startAgents>>

/** Answers of agents, what they are made with, and what of them is shown while they are made. */
export async function startAgents(
  parts: Base & Storage & SharedState & Engine & Links & Files & { realtime: Realtime },
) {
  const { config, sql, bytes, realtime, origin, clock, log, metrics, teardown } = parts
  const indexer = new Indexer({ sql, bytes, log })
  const tools = new AgentTools({ ...parts, settings: toToolSettings(config) })
  teardown.add('tools of agents', () => tools.close())
  const materials = new MaterialReader({ sql, bytes })
  teardown.add('materials of questions', async () => materials.stop())
  const frames = new RunFrames({
    ...parts,
    show: (app, frame) => realtime.showAgents(app, frame),
    origin: origin.inFrames,
  })
  realtime.onAgentAudience((app, isThere) => frames.audience(app, isThere))
  const counts = countRuns(metrics)
  const { runner, approvals, control } = startRunner({
    ...parts,
    providers: openProviders(toProviderSettings(config), { clock, log }),
    openToolbox: (request, signal) => tools.open(request, signal),
    readMaterials: (run, trigger, takesImages, signal) => materials.read(run, trigger, { takesImages, signal }),
    watcher: frames,
    counts,
    secret: await findDeployment(sql),
    settings: toRunSettings(config),
  })
  teardown.add('runs of agents', deadlineMs => runner.stop(deadlineMs))
  return { runner, approvals, control, counts, tools, indexer }
}
