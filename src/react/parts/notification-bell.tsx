import { useId, useRef, useState } from 'react'
import type { Notification } from '@parley/client'
import { useNotifications } from '../hooks/personal.ts'
import { Avatar } from './base/avatar.tsx'
import { Icon } from './base/icon.tsx'
import { ListState, LoadMore } from './base/state.tsx'
import { useTexts } from './base/texts.tsx'
import { ShortTime } from './base/time.tsx'

export interface NotificationBellProps {
  /** Goes to what a notification is about. */
  onOpen?: (notification: Notification) => void
}

/** How many notifications are unread, and a panel with them. */
export function NotificationBell({ onOpen }: NotificationBellProps) {
  const texts = useTexts()
  const list = useNotifications()
  const [isOpen, open] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const { actions } = list
  const unread = list.data.filter(({ is_unread }) => is_unread).length
  return (
    <div
      className="pl-bell"
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen) return
        open(false)
        button.current?.focus()
      }}
      onBlur={event => {
        if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget)) open(false)
      }}
    >
      <button
        ref={button}
        type="button"
        className="pl-icon-button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={unread === 0 ? texts.notifications : `${texts.notifications}, ${texts.unreadCount(unread)}`}
        onClick={() => open(!isOpen)}
      >
        <Icon name="bell" />
        {unread > 0 && <span className="pl-count">{unread > 99 ? '99+' : unread}</span>}
      </button>
      {isOpen && (
        <section className="pl-panel" id={id} aria-label={texts.notifications}>
          <header className="pl-line">
            <strong>{texts.notifications}</strong>
            <button
              type="button"
              className="pl-link"
              disabled={unread === 0}
              onClick={() => void actions.markAll().catch(() => {})}
            >
              {texts.markAll}
            </button>
          </header>
          <ListState of={list} isEmpty={list.data.length === 0} empty={texts.noNotifications} />
          <ul>
            {list.data.map(notification => (
              <li key={notification.id}>
                <button
                  type="button"
                  data-unread={notification.is_unread || undefined}
                  onClick={() => {
                    // A mark that fails is taken back by itself.
                    actions.mark(notification.id).catch(() => {})
                    open(false)
                    onOpen?.(notification)
                  }}
                >
                  <Avatar of={notification.actor} />
                  <span className="pl-notification">{notification.plain}</span>
                  <ShortTime time={notification.updated_at ?? notification.created_at} />
                  {notification.is_unread && <span className="pl-dot" role="img" aria-label={texts.isUnread} />}
                </button>
              </li>
            ))}
          </ul>
          <LoadMore of={list} />
        </section>
      )}
    </div>
  )
}
