import type { Measurement } from './figures.ts'
import type { AnyStage } from './stage.ts'

/** Null where it cannot be measured here. */
export type Step = () => Promise<Measurement | null> | null

/**
 * Takes every step once in each round; every other round the other way round, so that what one leaves behind does not
 * always meet the same.
 */
export async function measureRounds(
  { rounds, say }: Pick<AnyStage, 'rounds' | 'say'>,
  toSteps: (round: number) => Step[],
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (let round = 0; round < rounds; round++) {
    const steps = toSteps(round)
    for (const step of round % 2 === 0 ? steps : steps.toReversed()) {
      const measurement = await step()
      if (measurement === null) continue
      measurements.push(measurement)
      const { label, p50Ms, perSecond } = measurement
      say(`${label}: ${Math.round(perSecond ?? 0)}/s, p50 ${p50Ms?.toFixed(2) ?? '–'} ms`)
    }
  }
  return measurements
}
