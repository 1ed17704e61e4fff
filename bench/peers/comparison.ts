import { median, ratiosOf, type Measurement, type Target } from '../figures.ts'

/** Parley beside the hand-made server: its figures divided by that server's, of what is known of both. */
export interface Comparison {
  label: string
  peer: string
  ratios: Ratio[]
}

export interface Ratio {
  name: string
  value: number
}

/** What the hand-made server's measurement of the same is called. */
export const peerLabel = (what: string) => `hand-made, ${what}`

/**
 * The median over the rounds of each figure's ratio; both were measured in every round. Without the rate where Parley's is
 * that until everything is done: the hand-made server puts nothing off.
 */
export function compare(
  measurements: Measurement[],
  label: string,
  peer: string,
  { isUntilDone = false } = {},
): Comparison {
  const ratio = (name: string, figure: (of: Measurement) => number | null): Ratio[] => {
    const values = ratiosOf(measurements, label, peer, figure)
    return values === null ? [] : [{ name, value: median(values) }]
  }
  return {
    label,
    peer,
    ratios: [
      ...(isUntilDone ? [] : ratio('per second', of => of.perSecond)),
      ...ratio('p50', of => of.p50Ms),
      ...ratio('p99', of => of.p99Ms),
      ...ratio('CPU of 1,000', ({ serverCpu, databaseCpu }) =>
        serverCpu === null || databaseCpu === null ? null : serverCpu + databaseCpu,
      ),
      ...ratio('memory', of => of.rssMiB),
      ...ratio('disk', of => of.diskBytes),
    ],
  }
}

/** What a ratio of a comparison may be at most; nothing where it is not known. */
export function ratioTarget({ label, peer, ratios }: Comparison, name: string, limit: number): Target[] {
  const known = ratios.filter(ratio => ratio.name === name)
  return known.map(({ value }) => ({ name: `${name}, ${label} ÷ ${peer}`, value, bound: 'at most', limit, unit: '×' }))
}
