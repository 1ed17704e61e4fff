import type { History } from '../history.ts'
import type { Violation } from './violation.ts'

/** Whoever was to listen has listened, to every app: otherwise that nothing was wrong would say nothing. */
export function checkPresence({ observers, sightings, end }: History): Violation[] {
  const subscribed = [...sightings.native, ...sightings.hub].filter(({ frame }) => frame === 'subscribed')
  const known = new Set(subscribed.map(({ observer, app }) => `${observer}, app ${app}`))
  return observers.flatMap(observer =>
    end.apps
      .filter(({ id }) => !known.has(`${observer}, app ${id}`))
      .map(({ id: app }) => ({
        rule: 'subscriptions begin',
        what: `${observer} was never subscribed to app ${app}`,
        app,
      })),
  )
}
