import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { useDesk } from './desk.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'
import { toRefusal } from './form.tsx'

interface ActButtonProps {
  children: ComponentChildren
  isPrimary?: boolean
  isSmall?: boolean
  isDisabled?: boolean
  /** The immediate action. Its result is shown in a notice, its error in a dialog. */
  act: () => Promise<string>
}

/** Does something that can be undone, without asking. */
export function ActButton({ children, isPrimary = false, isSmall = false, isDisabled = false, act }: ActButtonProps) {
  const desk = useDesk()
  const [isBusy, setBusy] = useState(false)
  const onClick = async () => {
    setBusy(true)
    try {
      desk.notify(await act())
    } catch (error) {
      desk.open(close => (
        <Dialog title={texts.failure.title} onClose={close}>
          <Failure refusal={toRefusal(error)} />
        </Dialog>
      ))
    } finally {
      setBusy(false)
    }
  }
  const look = `${isPrimary ? 'primary' : ''} ${isSmall ? 'small' : ''}`
  return (
    <button type="button" class={`button ${look}`} disabled={isBusy || isDisabled} onClick={onClick}>
      {isBusy ? texts.busy : children}
    </button>
  )
}
