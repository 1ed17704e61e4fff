import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { Thread } from '../../src/lib/process/thread.ts'

const module = new URL('../../src/lib/process/thread.ts', import.meta.url)

/** A thread whose script computes for a while as it loads, and then waits or computes for as long as a task says. */
function open({ loadingMs = 0, taskMs = 200 } = {}) {
  const script = `
    import { takeTasks } from '${module}'
    function compute(ms) {
      const end = process.cpuUsage().user / 1000 + ms
      while (process.cpuUsage().user / 1000 < end) for (let i = 0; i < 1e6; i++);
    }
    compute(${loadingMs})
    takeTasks(({ waitMs = 0, computeMs = 0 }) => {
      if (waitMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
      compute(computeMs)
      return 'here'
    })`
  const file = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
  const options = { file, taskMs, waitingLimit: 10, memoryMb: 64, log: createLog('error', () => {}) }
  const thread = new Thread<{ waitMs?: number; computeMs?: number }, string>(options)
  return Object.assign(thread, { [Symbol.asyncDispose]: () => thread.close() })
}

const done = { state: 'done', result: 'here' }

test('a task that waits longer than it may compute is done', async () => {
  await using thread = open()

  expect(await thread.run({ waitMs: 1_000 })).toEqual(done)
})

test('what the script computes as it loads counts for no task', async () => {
  await using thread = open({ loadingMs: 400 })

  expect(await thread.run({})).toEqual(done)
})

test('a task that computes for longer fails, and the next one is done', async () => {
  await using thread = open()

  expect(await Promise.all([thread.run({ computeMs: 60_000 }), thread.run({})])).toEqual([{ state: 'failed' }, done])
})
