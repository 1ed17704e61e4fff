import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Takes out of memory what nobody can reach any more. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => Promise<void>
  // What was looked at in this turn stays until its end.
  await nextTurn()
  await collect({ execution: 'async' })
}
