const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const sayCount = (count: number) => whole.format(count)

/** Three digits, and a letter for the rest: for figures beside charts. */
export const sayCompact = (count: number) => (Math.abs(count) < 10 ? short.format(count) : compact.format(count))

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function sayBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), byteUnits.length - 1)
  return `${short.format(bytes / 1000 ** power)} ${byteUnits[power]}`
}

/** Of milliseconds. */
export function sayDuration(ms: number): string {
  if (ms < 1_000) return `${short.format(ms)} ms`
  if (ms < 60_000) return `${short.format(ms / 1_000)} s`
  if (ms < 3_600_000) return `${short.format(ms / 60_000)} min`
  if (ms < 86_400_000) return `${short.format(ms / 3_600_000)} h`
  return `${short.format(ms / 86_400_000)} d`
}
