import { useState, type SyntheticEvent } from 'react'
import { focusRow } from '../base/focus.ts'
import { useTexts } from '../base/texts.tsx'
import { takeMarkdownKey } from '../compose/markdown-keys.ts'

export interface EditTextProps {
  text: string
  onSave: (text: string) => void
  onCancel: () => void
}

/** Changes the text of an item in its place: Enter saves, Escape leaves it as it was. */
export function EditText({ text, onSave, onCancel }: EditTextProps) {
  const texts = useTexts()
  const [typed, type] = useState(text)
  const cancel = ({ currentTarget }: SyntheticEvent) => {
    focusRow(currentTarget)
    onCancel()
  }
  const save = (event: SyntheticEvent) => {
    if (typed.trim() === '' || typed === text) return cancel(event)
    focusRow(event.currentTarget)
    onSave(typed)
  }
  return (
    <form
      className="pl-edit"
      onSubmit={event => {
        event.preventDefault()
        save(event)
      }}
    >
      <textarea
        aria-label={texts.edit}
        value={typed}
        rows={Math.min(8, typed.split('\n').length)}
        autoFocus
        onChange={event => type(event.target.value)}
        onKeyDown={event => {
          event.stopPropagation()
          if (takeMarkdownKey(event)) return
          if (event.key === 'Escape') cancel(event)
          else if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            save(event)
          }
        }}
      />
      <p className="pl-buttons">
        <button type="submit" className="pl-primary">
          {texts.save}
        </button>
        <button type="button" onClick={cancel}>
          {texts.cancel}
        </button>
      </p>
    </form>
  )
}
