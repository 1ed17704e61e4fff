import { checkDeliveries } from './checks/deliveries.ts'
import { checkDerived } from './checks/derived.ts'
import { checkHub } from './checks/hub.ts'
import { withoutLost } from './checks/lost.ts'
import { checkNative } from './checks/native.ts'
import { checkOrder } from './checks/order.ts'
import { checkPresence } from './checks/presence.ts'
import type { Violation } from './checks/violation.ts'
import { checkWrites } from './checks/writes.ts'
import type { History } from './history.ts'

/** Every promise that a history breaks; none where all is well. A function of the history and nothing else. */
export function check(whole: History): Violation[] {
  const { history, violations } = withoutLost(whole)
  const checks = [checkPresence, checkWrites, checkOrder, checkDerived, checkNative, checkHub, checkDeliveries]
  return [...violations, ...checks.flatMap(checkOne => checkOne(history))]
}
