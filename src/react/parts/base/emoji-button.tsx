import { useId, useRef, useState, type KeyboardEvent } from 'react'
import { Icon } from './icon.tsx'

export interface EmojiButtonProps {
  /** What the button is called. */
  label: string
  emoji: readonly string[]
  /** How one of them is called. */
  toLabel: (emoji: string) => string
  onChoose: (emoji: string) => void
}

/** A button that offers emoji. Arrow keys go from one to the next. */
export function EmojiButton({ label, emoji, toLabel, onChoose }: EmojiButtonProps) {
  const [isOpen, open] = useState(false)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    open(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!isOpen) return
    if (event.key === 'Escape') close()
    else if (!moveFocus(event)) return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <span
      className="pl-react"
      onKeyDown={onKeyDown}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) open(false)
      }}
    >
      <button
        ref={button}
        type="button"
        className="pl-icon-button"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => open(!isOpen)}
      >
        <Icon name="smile" />
      </button>
      {isOpen && (
        <span className="pl-emoji" id={id} role="group" aria-label={label}>
          {emoji.map(one => (
            <button
              key={one}
              type="button"
              aria-label={toLabel(one)}
              onClick={() => {
                close()
                onChoose(one)
              }}
            >
              {one}
            </button>
          ))}
        </span>
      )}
    </span>
  )
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }

function moveFocus({ key, currentTarget, target }: KeyboardEvent<HTMLElement>): boolean {
  const step = steps[key]
  if (step === undefined) return false
  const buttons = Array.from(currentTarget.querySelectorAll<HTMLElement>('button'))
  const { direction } = getComputedStyle(currentTarget)
  const way = direction === 'rtl' && /Left|Right/.test(key) ? -step : step
  buttons.at((buttons.indexOf(target as HTMLElement) + way) % buttons.length)?.focus()
  return true
}
