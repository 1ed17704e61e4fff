import { useRef, type KeyboardEvent } from 'react'
import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'

export interface PollFieldsProps {
  options: readonly string[]
  onChange: (options: readonly string[]) => void
  /** All options are there. */
  onDone: () => void
  /** No poll after all. */
  onClose: () => void
}

/** The most options of a poll that is made here. */
const most = 10

/**
 * The options of a poll that is being written; its question is the text. There is always an empty one to go on with, and
 * Enter in it says that there are no more.
 */
export function PollFields({ options, onChange, onDone, onClose }: PollFieldsProps) {
  const texts = useTexts()
  const list = useRef<HTMLOListElement>(null)
  const shown = options.length < most && options.at(-1) !== '' ? [...options, ''] : options
  const focus = (at: number) => list.current?.querySelectorAll('input')[at]?.focus()
  const onKeyDown = (event: KeyboardEvent, at: number) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') {
      event.preventDefault()
      if (shown[at] === '' || at === shown.length - 1) onDone()
      else focus(at + 1)
    } else if (event.key === 'Backspace' && shown[at] === '' && at > 0) {
      event.preventDefault()
      focus(at - 1)
      onChange(options.filter((_, index) => index !== at))
    } else if (event.key === 'Escape') onClose()
  }
  return (
    <fieldset className="pl-poll-fields">
      <legend>{texts.poll}</legend>
      <ol ref={list}>
        {shown.map((option, at) => (
          <li key={at}>
            <input
              value={option}
              aria-label={texts.option(at + 1)}
              placeholder={texts.option(at + 1)}
              onChange={({ target }) => onChange(shown.map((one, index) => (index === at ? target.value : one)))}
              onKeyDown={event => onKeyDown(event, at)}
            />
          </li>
        ))}
      </ol>
      <button type="button" className="pl-icon-button" aria-label={texts.noPoll} title={texts.noPoll} onClick={onClose}>
        <Icon name="close" />
      </button>
    </fieldset>
  )
}
