import type { ComponentChildren } from 'preact'
import { Link } from '../place.tsx'
import { Icon } from './icon.tsx'

export interface HeadingProps {
  title: string
  /** What the view is about, in a sentence. */
  hint?: ComponentChildren
  /** The view that this one is a part of. */
  back?: { to: string; title: string }
  actions?: ComponentChildren
}

/** The top of a view. */
export function Heading({ title, hint, back, actions }: HeadingProps) {
  return (
    <header class="heading">
      {back && (
        <Link to={back.to} class="back">
          <Icon name="back" />
          {back.title}
        </Link>
      )}
      <div class="heading-line">
        <div class="heading-words">
          <h1 title={title}>{title}</h1>
          {hint && <p class="muted">{hint}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
    </header>
  )
}
