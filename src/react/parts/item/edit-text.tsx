import { useState } from 'react'
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
  const save = () => (typed.trim() === '' || typed === text ? onCancel() : onSave(typed))
  return (
    <form
      className="pl-edit"
      onSubmit={event => {
        event.preventDefault()
        save()
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
          if (event.key === 'Escape') onCancel()
          else if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            save()
          }
        }}
      />
      <p className="pl-buttons">
        <button type="submit" className="pl-primary">
          {texts.save}
        </button>
        <button type="button" onClick={onCancel}>
          {texts.cancel}
        </button>
      </p>
    </form>
  )
}
