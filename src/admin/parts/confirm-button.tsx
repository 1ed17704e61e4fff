import type { ComponentChildren } from 'preact'
import { AskButton } from './ask-button.tsx'
import { Confirm, type ConfirmProps } from './confirm.tsx'

interface ConfirmButtonProps extends Omit<ConfirmProps, 'close'> {
  children: ComponentChildren
  isDangerous?: boolean
  isSmall?: boolean
}

/** Does something once that has been confirmed. */
export function ConfirmButton({ children, isDangerous = false, isSmall = false, ...asked }: ConfirmButtonProps) {
  return (
    <AskButton isDangerous={isDangerous} isSmall={isSmall} ask={close => <Confirm {...asked} close={close} />}>
      {children}
    </AskButton>
  )
}
