import type { ComponentChildren } from 'preact'
import { useDesk } from './desk.tsx'

interface AskButtonProps {
  children: ComponentChildren
  isDangerous?: boolean
  isPrimary?: boolean
  isSmall?: boolean
  /** The dialog that it opens. */
  ask: (close: () => void) => ComponentChildren
}

/** Opens a dialog. */
export function AskButton({ children, isDangerous, isPrimary, isSmall, ask }: AskButtonProps) {
  const desk = useDesk()
  const look = `${isPrimary ? 'primary' : ''} ${isDangerous ? 'danger-quiet' : ''} ${isSmall ? 'small' : ''}`
  return (
    <button type="button" class={`button ${look}`} onClick={() => desk.open(ask)}>
      {children}
    </button>
  )
}
