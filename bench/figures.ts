/** One run of one load against one server. Null: not known. */
export interface Measurement {
  label: string
  /** Parley itself, or what it is compared with. */
  subject: 'parley' | 'baseline' | 'peer'
  /** What is counted: sends, deliveries … */
  unit: string
  perSecond: number | null
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
  /** Processor seconds for 1,000 operations. */
  serverCpu: number | null
  databaseCpu: number | null
  loadCpu: number | null
  rssMiB: number | null
  /** What an operation takes on the disk, with everything that follows from it. */
  diskBytes: number | null
  /** Share of the machine that others used meanwhile. */
  others: number | null
}

/** A figure and the bound that it is to keep. */
export interface Target {
  name: string
  value: number
  bound: 'at least' | 'at most'
  limit: number
  unit: string
}

export function isMet({ value, bound, limit }: Target): boolean {
  return bound === 'at least' ? value >= limit : value <= limit
}

/** Medians over the rounds of each measurement with the same label, in order of first appearance. */
export function medians(measurements: Measurement[]): Measurement[] {
  return [...Map.groupBy(measurements, ({ label }) => label).values()].map(runs => {
    const middle = (pick: (run: Measurement) => number | null) => {
      const values = runs.map(pick).filter(value => value !== null)
      return values.length === 0 ? null : median(values)
    }
    const { label, subject, unit } = runs[0]!
    return {
      label,
      subject,
      unit,
      perSecond: middle(run => run.perSecond),
      p50Ms: middle(run => run.p50Ms),
      p95Ms: middle(run => run.p95Ms),
      p99Ms: middle(run => run.p99Ms),
      serverCpu: middle(run => run.serverCpu),
      databaseCpu: middle(run => run.databaseCpu),
      loadCpu: middle(run => run.loadCpu),
      rssMiB: middle(run => run.rssMiB),
      diskBytes: middle(run => run.diskBytes),
      others: middle(run => run.others),
    }
  })
}

type Figure = Exclude<keyof Measurement, 'label' | 'subject' | 'unit'>

/** The median of one figure of the measurements with a label. Throws where it is not known. */
export function figureOf(measurements: Measurement[], label: string, figure: Figure = 'perSecond'): number {
  return median(figuresOf(measurements, label, figure))
}

/**
 * What one is of another: the median over the rounds of their ratio in each. They are measured one after the other, and
 * on many machines all that is measured in one minute is half as fast again as in the next.
 */
export function ratioOf(
  measurements: Measurement[],
  label: string,
  baseline: string,
  figure: Figure = 'perSecond',
): number {
  const ratios = ratiosOf(measurements, label, baseline, run => run[figure])
  if (ratios === null) throw new Error(`There is no ${figure} of "${label}" and "${baseline}"`)
  return median(ratios)
}

/** The ratio in each round; null where it is not known of every round. */
export function ratiosOf(
  measurements: Measurement[],
  label: string,
  baseline: string,
  pick: (run: Measurement) => number | null,
): number[] | null {
  const valuesOf = (name: string) => measurements.filter(run => run.label === name).map(pick)
  const baselines = valuesOf(baseline)
  const ratios = valuesOf(label).map((value, round) => (value ?? Number.NaN) / (baselines[round] ?? Number.NaN))
  return ratios.length === 0 || ratios.some(Number.isNaN) ? null : ratios
}

/** What 1,000 operations may take of the processors' time, server and database together. */
export function cpuTarget(measurements: Measurement[], label: string, what: string, limit: number): Target {
  const value = figureOf(measurements, label, 'serverCpu') + figureOf(measurements, label, 'databaseCpu')
  return { name: `CPU of 1,000 ${what}, server and database`, value, bound: 'at most', limit, unit: 's' }
}

/** One figure of each round. Throws where it is not known. */
function figuresOf(measurements: Measurement[], label: string, figure: Figure): number[] {
  const figures = measurements.filter(run => run.label === label).map(run => run[figure])
  const known = figures.filter(value => value !== null)
  if (known.length === 0 || known.length < figures.length) throw new Error(`There is no ${figure} of "${label}"`)
  return known
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
