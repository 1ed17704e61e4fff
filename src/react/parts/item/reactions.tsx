import { useId, useRef, useState, type KeyboardEvent } from 'react'
import type { Content } from '@parley/client'
import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'

const offered = ['👍', '❤️', '😂', '🎉', '😮', '🙏']

export interface ReactionsProps {
  reactions: Content['reactions']
  /** The user's id. */
  me: number | undefined
  onReact: (content: string | null) => void
}

/** Who has reacted with what; pressing one adds the own reaction or takes it back. */
export function Reactions({ reactions, me, onReact }: ReactionsProps) {
  const texts = useTexts()
  const data = reactions?.data ?? []
  if (data.length === 0) return null
  const groups = new Map<string, typeof data>()
  for (const one of data) groups.set(one.content, [...(groups.get(one.content) ?? []), one])
  return (
    <ul className="pl-reactions" aria-label={texts.reactions}>
      {Array.from(groups, ([content, those]) => {
        const isOwn = those.some(({ created_by }) => created_by.id === me)
        return (
          <li key={content}>
            <button
              type="button"
              aria-pressed={isOwn}
              aria-label={texts.reacted(content, those.length)}
              title={those.map(({ created_by }) => created_by.name).join(', ')}
              onClick={() => onReact(isOwn ? null : content)}
            >
              <span aria-hidden="true">{content}</span> <span aria-hidden="true">{those.length}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}

/** A button that offers a few emoji. */
export function ReactButton({ onReact }: { onReact: (content: string) => void }) {
  const texts = useTexts()
  const [isOpen, open] = useState(false)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    open(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Escape' || !isOpen) return
    event.stopPropagation()
    close()
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
        aria-label={texts.react}
        title={texts.react}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => open(!isOpen)}
      >
        <Icon name="smile" />
      </button>
      {isOpen && (
        <span className="pl-emoji" id={id} role="group" aria-label={texts.react}>
          {offered.map(emoji => (
            <button
              key={emoji}
              type="button"
              aria-label={texts.reactWith(emoji)}
              onClick={() => {
                onReact(emoji)
                close()
              }}
            >
              {emoji}
            </button>
          ))}
        </span>
      )}
    </span>
  )
}
