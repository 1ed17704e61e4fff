/** Calls at once: enough to keep a server busy, few enough that it refuses none. */
const callers = 32

/** Calls `run` with each number below `count`, several at once. */
export async function inParallel(count: number, run: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const call = async () => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: Math.min(callers, count) }, call))
}
