import { useState } from 'react'
import { Composer, ConversationList, Messages, Presence, useApp, type AppRef } from '@parley/react'

/** The conversations of a person, and one that is open. */
export function Chat() {
  const [chat, open] = useState<AppRef>(matchMedia('(width >= 36rem)').matches ? 'demo-chat' : undefined)
  const { data } = useApp(chat)
  return (
    <div className="pl-layout" data-open={chat !== undefined}>
      <ConversationList selected={chat} onSelect={open} />
      <section aria-label="Conversation">
        {chat !== undefined && (
          <header className="bar">
            <button onClick={() => open(undefined)} aria-label="All conversations" className="back" />
            <h2>{data?.name}</h2>
            <Presence app={chat} />
          </header>
        )}
        <Messages app={chat} />
        <Composer app={chat} />
      </section>
    </div>
  )
}
