const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

const units: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** When something was, as people say it; in full where the pointer is, and in the clock of this browser. */
export function Moment({ at, now = Date.now() }: { at: string | undefined; now?: number }) {
  if (at === undefined) return <span class="muted">–</span>
  const date = new Date(at)
  return (
    <time datetime={at} title={absolute.format(date)}>
      {sayMoment(date, now)}
    </time>
  )
}

function sayMoment(date: Date, now: number): string {
  const seconds = Math.round((date.getTime() - now) / 1000)
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units.at(-1)!
  return relative.format(Math.round(seconds / length), unit)
}

/** Of a field of a form: what `datetime-local` holds is in the clock of this browser. */
export function toLocalInput(at: string | undefined): string {
  if (at === undefined) return ''
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The way back; undefined for an empty field. */
export function fromLocalInput(text: string): string | undefined {
  return text === '' ? undefined : new Date(text).toISOString().replace(/\.\d+Z$/, 'Z')
}
