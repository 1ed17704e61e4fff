import { useState, type ReactNode } from 'react'
import type { Message } from '@parley/client'
import { Avatar } from '../base/avatar.tsx'
import { useTexts } from '../base/texts.tsx'
import { ShortTime } from '../base/time.tsx'
import { ItemBody, ItemTools, type ItemActions } from './item-body.tsx'

export interface EntryProps {
  className: string
  /** A post or comment. */
  item: Message
  actions: ItemActions
  /** The user's id. */
  me: number | undefined
  /** 0 where Tab leads to it. */
  tabIndex: number
  /** What follows. */
  children?: ReactNode
}

/** A post or comment with its author above it. */
export function Entry({ className, item, actions, me, tabIndex, children }: EntryProps) {
  const texts = useTexts()
  const [isEditing, edit] = useState(false)
  const { created_by: author, created_at, updated_at, state } = item
  const name = author?.name ?? ''
  return (
    <article className={className} aria-label={toLabel(item)} tabIndex={tabIndex} data-state={state}>
      <header>
        <Avatar of={author ?? { name }} />
        <strong>{name}</strong>
        <ShortTime time={created_at} />
        {updated_at !== undefined && <span className="pl-muted">{texts.edited}</span>}
      </header>
      <ItemBody item={item} actions={actions} me={me} isEditing={isEditing} onEdit={edit} />
      <ItemTools item={item} actions={actions} me={me} onEdit={edit} />
      {children}
    </article>
  )
}

/** How an item is called for those who do not see it: by its author and first words. */
export function toLabel({ created_by: author, plain }: Message): string {
  return `${author?.name ?? ''}: ${plain ?? ''}`.slice(0, 120)
}
