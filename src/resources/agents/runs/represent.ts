import type { UserCache } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { AppState } from '../../../engine/state.ts'
import type { CallBody, ModelBody, StepRow } from '../../../agents/runs/steps.ts'
import { verbatim } from '../../../api/json.ts'
import { showType, type Kind } from '../../apps/kinds.ts'
import { titleOf } from '../../apps/naming.ts'
import type { ListedRun } from './list.ts'

interface Viewer {
  /** True for callers who manage agents: they see costs, and the model. */
  isManaged: boolean
  userCache: UserCache
}

/** The app of a run. */
interface RunApp {
  id: number
  type: string
  kind: Kind
  name: string | null
}

/** The app as the caller sees it; API keys see it as the asker does. */
export function toRunApp(run: ListedRun, state: AppState, by: Principal, userCache: UserCache): RunApp {
  const viewer = by.kind === 'user' ? by.user : run.asker_id
  return { id: run.app_id, ...showType(state.app.type), name: titleOf(state, viewer, userCache) }
}

/** A run. `app`: null where it is deleted. */
export function showRun(run: ListedRun, app: RunApp | null, { isManaged, userCache }: Viewer) {
  const { tokens_in, tokens_out, tokens_cached } = run
  return {
    id: run.id,
    agent: showNamed(run.agent_id, userCache),
    app,
    item: { type: run.item_type, id: run.item_id },
    asker: showNamed(run.asker_id, userCache),
    state: run.state,
    error: run.error,
    finish: run.finish,
    reply: run.reply_id === null ? null : { type: run.reply_type, id: run.reply_id },
    provider: isManaged ? run.provider : null,
    model: isManaged ? run.model : null,
    rounds: isManaged ? run.rounds : null,
    calls: isManaged ? run.calls : null,
    attempts: isManaged ? run.attempts : null,
    usage: isManaged ? { input: tokens_in, output: tokens_out, cached: tokens_cached } : null,
    created_at: run.created_at,
    began_at: run.began_at,
    first_text_at: run.first_text_at,
    ended_at: run.ended_at,
    approvals: run.approvals,
  }
}

export function showNamed(user: number, userCache: UserCache) {
  const { uid, display_name } = userCache.show(user)
  return { id: user, uid, name: display_name }
}

export function showStep({ n, kind, name, outcome, began_at, ended_at, body }: StepRow) {
  return {
    n,
    kind,
    name,
    outcome,
    began_at,
    duration: ended_at === null ? null : ended_at.getTime() - began_at.getTime(),
    ...(body === null || body === undefined ? {} : showBody(kind, body)),
  }
}

function showBody(kind: StepRow['kind'], body: unknown) {
  if (kind === 'model') return { result: verbatim((body as ModelBody).text) }
  const { arguments: args, result } = body as CallBody
  return { arguments: verbatim(args), result: verbatim(result) }
}
