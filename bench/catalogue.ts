import { agents } from './scenarios/agents.ts'
import { alone } from './scenarios/alone.ts'
import { deep } from './scenarios/deep.ts'
import { fanOut } from './scenarios/fan-out.ts'
import { history } from './scenarios/history.ts'
import { hub } from './scenarios/hub.ts'
import { idle } from './scenarios/idle.ts'
import { mark } from './scenarios/mark.ts'
import { nodes } from './scenarios/nodes.ts'
import { provision } from './scenarios/provision.ts'
import { reconnect } from './scenarios/reconnect.ts'
import { send } from './scenarios/send.ts'
import { soak } from './scenarios/soak.ts'
import { steady } from './scenarios/steady.ts'
import { sustained } from './scenarios/sustained.ts'
import { trickle } from './scenarios/trickle.ts'
import { victim } from './scenarios/victim.ts'
import { webhooks } from './scenarios/webhooks.ts'
import type { Scenario } from './stage.ts'

/**
 * In the order in which they run: those that want a fresh or a quiet server first; reading before what leaves work to be
 * done; those that fill the disk or restart the server last.
 */
export const scenarios: Scenario[] = [
  idle,
  trickle,
  alone,
  steady,
  history,
  send,
  sustained,
  fanOut,
  hub,
  mark,
  webhooks,
  agents,
  provision,
  victim,
  deep,
  reconnect,
  nodes,
  soak,
]
