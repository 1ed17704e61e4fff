import { memo, useState } from 'react'
import type { Message } from '@parley/client'
import { Avatar } from '../base/avatar.tsx'
import { useTexts } from '../base/texts.tsx'
import { Time } from '../base/time.tsx'
import { toLabel } from '../item/entry.tsx'
import { ItemBody, ItemTools, type ItemActions } from '../item/item-body.tsx'

export interface MessageRowProps {
  message: Message
  /** True for the first of several by one author. */
  isFirst: boolean
  actions: ItemActions
  /** The user's id. */
  me: number | undefined
}

/** One message. It renders when it has changed, and not when another one has. */
export const MessageRow = memo(function MessageRow({ message, isFirst, actions, me }: MessageRowProps) {
  const texts = useTexts()
  const [isEditing, edit] = useState(false)
  const { created_by: author, created_at, updated_at, state } = message
  const name = author?.name ?? ''
  return (
    <article
      className="pl-message"
      aria-label={toLabel(message)}
      tabIndex={-1}
      data-key={message.key}
      data-first={isFirst || undefined}
      data-own={(author !== undefined && author.id === me) || message.id === undefined || undefined}
      data-state={state}
    >
      {isFirst && (
        <header>
          <Avatar of={author ?? { name }} />
          <strong>{name}</strong>
          {author?.is_agent && <span className="pl-badge">{texts.agent}</span>}
          <Time time={created_at} />
        </header>
      )}
      <div className="pl-bubble">
        <ItemBody item={message} actions={actions} me={me} isEditing={isEditing} onEdit={edit} />
        {updated_at !== undefined && <span className="pl-muted pl-edited">{texts.edited}</span>}
        {state === 'sending' && <span className="pl-muted pl-sending">{texts.sending}</span>}
      </div>
      <ItemTools item={message} actions={actions} me={me} onEdit={edit} />
    </article>
  )
})
