import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toRefusal } from '../server/refusal.ts'
import { texts } from '../texts.ts'
import { useDesk } from './desk.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'
import { FormDialog } from './form.tsx'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps {
  children?: ComponentChildren
  icon?: IconName
  isPrimary?: boolean
  isDangerous?: boolean
  isSmall?: boolean
  isDisabled?: boolean | undefined
}

function Button({
  children,
  icon,
  isPrimary,
  isDangerous,
  isSmall,
  isDisabled,
  onClick,
}: ButtonProps & { onClick: () => void }) {
  const look = `${isPrimary ? 'primary' : ''} ${isDangerous ? 'danger-quiet' : ''} ${isSmall ? 'small' : ''}`
  return (
    <button type="button" class={`button ${look}`} disabled={isDisabled} onClick={onClick}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** Does something that can be undone, without asking. The result of `act` is shown in a notice, its error in a dialog. */
export function ActButton({ children, isDisabled, act, ...look }: ButtonProps & { act: () => Promise<string> }) {
  const desk = useDesk()
  const [isBusy, setBusy] = useState(false)
  const onClick = async () => {
    setBusy(true)
    try {
      desk.notify(await act())
    } catch (error) {
      desk.open(
        <Dialog title={texts.failure.title}>
          <Failure refusal={toRefusal(error)} />
        </Dialog>,
      )
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button {...look} isDisabled={isBusy || isDisabled} onClick={onClick}>
      {isBusy ? texts.busy : children}
    </Button>
  )
}

/** Opens a dialog. */
export function AskButton({ ask, ...look }: ButtonProps & { ask: ComponentChildren }) {
  const desk = useDesk()
  return <Button {...look} onClick={() => desk.open(ask)} />
}

interface ConfirmProps {
  title: string
  /** What will happen. */
  text: string
  submit: string
  /** The name to be typed as a confirmation; without it, a click is enough. */
  typed?: { name: string; otherwise: string }
  /** Its result is shown in a notice. */
  onConfirm: () => Promise<string | void>
}

/**
 * Does something that cannot be undone, or that many will notice, once that has been confirmed. Without words of its own it
 * has those of the dialog's button.
 */
export function ConfirmButton({
  children,
  isDangerous = false,
  isSmall = false,
  ...asked
}: Pick<ButtonProps, 'children' | 'isDangerous' | 'isSmall'> & ConfirmProps) {
  return (
    <AskButton isDangerous={isDangerous} isSmall={isSmall} ask={<Confirm {...asked} />}>
      {children ?? asked.submit}
    </AskButton>
  )
}

/** The longest name to be typed: one line. */
const longestTyped = 40

function Confirm({ title, text, submit, typed, onConfirm }: ConfirmProps) {
  const [given, setGiven] = useState('')
  const wanted = typed && (isTypable(typed.name) ? typed.name : typed.otherwise)
  return (
    <FormDialog
      title={title}
      submit={submit}
      isDangerous
      isDisabled={wanted !== undefined && given.trim() !== wanted}
      onSubmit={onConfirm}
    >
      <p>{text}</p>
      {wanted !== undefined && (
        <label class="field">
          <span class="field-label">
            {texts.confirm.type} <code>{wanted}</code>
          </span>
          <input
            name="typed"
            value={given}
            autocomplete="off"
            spellcheck={false}
            autoFocus
            onInput={event => setGiven(event.currentTarget.value)}
          />
        </label>
      )}
    </FormDialog>
  )
}

/** Hostile names, such as very long ones and characters that no keyboard has, are replaced by the id. */
function isTypable(name: string): boolean {
  return (
    name.length > 0 && name.length <= longestTyped && /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(name) && name.trim() === name
  )
}
