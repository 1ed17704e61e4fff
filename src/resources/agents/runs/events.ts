import { z } from 'zod'
import { Int, Timestamp } from '../../../api/shape.ts'
import { event, type EventType } from '../../../engine/event.ts'
import type { RunAction, DeliveredApproval } from '../../../agents/runs/deliveries.ts'
import { showType } from '../../apps/kinds.ts'
import { approvalStates, toExpiry } from '../approvals/store.ts'
import type { ListedRun } from './list.ts'
import { showRun } from './represent.ts'
import { Run } from './schema.ts'

/** The facts of a delivery: see queueRunDeliveries. */
interface ToldRun {
  run: ListedRun
  approval: DeliveredApproval | null
}

const ToldApproval = z.object({
  id: Int,
  server: z.string(),
  tool: z.string(),
  state: z.enum(approvalStates),
  expires_at: Timestamp,
})

const actions: RunAction[] = ['run_done', 'run_failed', 'approval_requested', 'approval_decided']

/** Events of runs for webhooks. They belong to no app's history; clients see runs by frames. */
export const runEvents: EventType<ToldRun>[] = actions.map(type =>
  event<ToldRun>({
    type,
    entity: 'run',
    isActivity: false,
    trigger: 'agents',
    payload: z.object({ run: Run, approval: ToldApproval.optional() }),
    names: ({ body }) => (body === null ? [] : [body.run.agent_id, body.run.asker_id]),
    redact({ body }, { app, userCache }) {
      if (body === null) return null
      const { run, approval } = body
      const shownApp = { id: app.id, ...showType(app.type), name: app.name }
      return {
        run: showRun(run, shownApp, { isManaged: true, userCache }),
        approval: approval && showToldApproval(approval),
      }
    },
  }),
)

function showToldApproval({ id, server, tool, state, created_at }: DeliveredApproval) {
  return { id, server, tool, state, expires_at: toExpiry(created_at) }
}
