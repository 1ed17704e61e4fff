import { useLocale, useTexts, type Texts } from './texts.tsx'

/** The day of a time, as the user's calendar has it: the same text for all times of one day. */
export function toDay(time: string): string {
  return new Date(time).toDateString()
}

/** A time of day, or a shorter one of another day. */
export function Time({ time }: { time: string }) {
  const locale = useLocale()
  const date = new Date(time)
  return (
    <time
      dateTime={time}
      title={format(date, locale, { dateStyle: 'full', timeStyle: 'short' })}
      suppressHydrationWarning
    >
      {format(date, locale, { timeStyle: 'short' })}
    </time>
  )
}

/** How long ago something was: the time of today, or the day. */
export function ShortTime({ time }: { time: string }) {
  const locale = useLocale()
  const date = new Date(time)
  const isToday = toDay(time) === new Date().toDateString()
  return (
    <time
      dateTime={time}
      title={format(date, locale, { dateStyle: 'full', timeStyle: 'short' })}
      suppressHydrationWarning
    >
      {format(date, locale, isToday ? { timeStyle: 'short' } : { day: 'numeric', month: 'short' })}
    </time>
  )
}

export function toDayName(day: string, texts: Texts, locale: string | undefined): string {
  const date = new Date(day)
  const yesterday = new Date()
  if (day === yesterday.toDateString()) return texts.today
  yesterday.setDate(yesterday.getDate() - 1)
  if (day === yesterday.toDateString()) return texts.yesterday
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  return format(date, locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(!isThisYear && { year: 'numeric' }),
  })
}

/** The line between two days. */
export function DaySeparator({ day }: { day: string }) {
  const texts = useTexts()
  const locale = useLocale()
  const name = toDayName(day, texts, locale)
  return (
    <div className="pl-day" role="separator" aria-label={name} suppressHydrationWarning>
      <span suppressHydrationWarning>{name}</span>
    </div>
  )
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making a format costs more than all of its uses. */
function format(date: Date, locale: string | undefined, options: Intl.DateTimeFormatOptions): string {
  const key = `${locale} ${JSON.stringify(options)}`
  let found = formats.get(key)
  if (found === undefined) formats.set(key, (found = new Intl.DateTimeFormat(locale, options)))
  return found.format(date)
}
