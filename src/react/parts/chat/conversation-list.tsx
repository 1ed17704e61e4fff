import { memo, type ComponentType } from 'react'
import type { ListedApp } from '@parley/client'
import { useApps } from '../../hooks/apps.ts'
import type { AppRef } from '../../hooks/items.ts'
import { Avatar } from '../base/avatar.tsx'
import { ListState, LoadMore } from '../base/state.tsx'
import { useTexts } from '../base/texts.tsx'
import { ShortTime } from '../base/time.tsx'

export interface ConversationListProps {
  /** The conversation that is open, by id or uid. */
  selected?: AppRef
  onSelect: (app: number, conversation: ListedApp) => void
  /** Which apps are conversations. */
  kinds?: readonly ListedApp['kind'][]
  /** Shows one conversation within its button, in place of `Conversation`. */
  Row?: ComponentType<{ app: ListedApp }>
}

const chats: readonly ListedApp['kind'][] = ['chat', 'chat_room', 'private_chat', 'agent_chat']

/** The conversations of the user, those with the newest activity first. */
export function ConversationList({ selected, onSelect, kinds = chats, Row = Conversation }: ConversationListProps) {
  const texts = useTexts()
  const list = useApps()
  const shown = list.data.filter(({ kind }) => kinds.includes(kind))
  return (
    <nav className="pl-conversations" aria-label={texts.conversations}>
      <ul>
        {shown.map(app => (
          <li key={app.id}>
            <button
              type="button"
              aria-current={(selected !== undefined && (selected === app.id || selected === app.uid)) || undefined}
              data-unread={app.is_unread || undefined}
              onClick={() => onSelect(app.id, app)}
            >
              <Row app={app} />
            </button>
          </li>
        ))}
      </ul>
      <ListState of={list} isEmpty={shown.length === 0} empty={texts.noConversations} />
      <LoadMore of={list} />
    </nav>
  )
}

/** A conversation with its newest message. */
export const Conversation = memo(function Conversation({ app }: { app: ListedApp }) {
  const texts = useTexts()
  const { last_message: last } = app
  const name = app.name ?? texts.untitled
  return (
    <>
      <Avatar of={{ name, ...(app.avatar_url !== undefined && { avatar_url: app.avatar_url }) }} />
      <span className="pl-conversation">
        <span className="pl-line">
          <strong>{name}</strong>
          {last !== undefined && <ShortTime time={last.created_at} />}
        </span>
        <span className="pl-line">
          <span className="pl-preview">{last !== undefined && `${last.created_by.name}: ${last.plain ?? ''}`}</span>
          {app.is_unread && <span className="pl-dot" role="img" aria-label={texts.isUnread} />}
        </span>
      </span>
    </>
  )
})
