import type { ComponentChildren } from 'preact'

interface CardProps {
  title?: string
  /** What can be done, beside the title. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** What belongs together. */
export function Card({ title, actions, children }: CardProps) {
  return (
    <section class="card">
      {(title !== undefined || actions) && (
        <header class="card-head">
          {title !== undefined && <h2>{title}</h2>}
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  )
}

/** A figure that is seen at once, with what it counts; in full where the pointer is. */
export function Figure({ name, value, title }: { name: string; value: ComponentChildren; title?: string }) {
  return (
    <div class="card">
      <span class="muted small">{name}</span>
      <strong title={title}>{value ?? '–'}</strong>
    </div>
  )
}
