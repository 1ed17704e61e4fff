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
