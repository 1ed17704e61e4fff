import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { FormDialog } from './form.tsx'

/** The longest name to be typed: one line. */
const longestTyped = 40

export interface ConfirmProps {
  title: string
  /** What will happen. */
  text: string
  submit: string
  /** The name to be typed as a confirmation; without it, a click is enough. */
  typed?: { name: string; otherwise: string }
  onConfirm: () => Promise<void>
  close: () => void
}

/** Asks before something is done that cannot be undone, or that many will notice. */
export function Confirm({ title, text, submit, typed, onConfirm, close }: ConfirmProps) {
  const [given, setGiven] = useState('')
  const wanted = typed && (isTypable(typed.name) ? typed.name : typed.otherwise)
  return (
    <FormDialog
      title={title}
      submit={submit}
      isDangerous
      isDisabled={wanted !== undefined && given.trim() !== wanted}
      close={close}
      onSubmit={onConfirm}
    >
      <p>{text}</p>
      {wanted !== undefined && (
        <label class="field">
          <span class="field-label">
            {texts.confirm.type} <code class="wrap">{wanted}</code>
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
