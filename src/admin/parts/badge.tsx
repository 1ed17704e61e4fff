import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'bad' | 'warn' | 'plain' | 'accent'

/** A word about a state. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** Names beside each other, of which no two are the same. */
export function Badges({ of }: { of: readonly string[] }) {
  return (
    <span class="badges">
      {of.map(name => (
        <Badge key={name}>{name}</Badge>
      ))}
    </span>
  )
}
