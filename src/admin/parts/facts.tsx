import type { ComponentChildren } from 'preact'

type Fact = [name: string, value: ComponentChildren] | false

/** What is known of one thing: names and values. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(fact => fact !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isNothing(value) ? <span class="muted">–</span> : value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** What would leave no trace, as `condition && …` does. */
function isNothing(value: ComponentChildren): boolean {
  return value === undefined || value === null || value === false || value === ''
}
