/**
 * Calls at fixed instants, late ones at once: a slow answer must not make the load smaller. `run` is told the instant
 * that it was meant for. Returns how often it was called.
 */
export async function repeat(run: (wantedAt: number) => void, perSecond: number, seconds: number): Promise<number> {
  const start = performance.now()
  const count = Math.round(perSecond * seconds)
  for (let done = 0; done < count; done++) {
    const wantedAt = start + (done * 1000) / perSecond
    const early = wantedAt - performance.now()
    if (early > 0) await wait(early / 1000)
    run(wantedAt)
  }
  await wait(Math.max(0, start + seconds * 1000 - performance.now()) / 1000)
  return count
}

export const wait = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1000))
