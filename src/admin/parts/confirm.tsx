import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { FormDialog } from './form.tsx'

/** What may be asked to be typed: no more than one line, and nothing that cannot be. */
const longestTyped = 40

interface ConfirmProps {
  title: string
  /** What happens. */
  text: string
  submit: string
  /** What has to be typed before it can be done; without it, a click is enough. */
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

/** Names are hostile: very long ones, and those of characters that are not on keyboards, have an id instead. */
function isTypable(name: string): boolean {
  return (
    name.length > 0 && name.length <= longestTyped && /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(name) && name.trim() === name
  )
}
