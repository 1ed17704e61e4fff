import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createStillParley } from '@parley/client/still'
import { ParleyProvider } from '@parley/react'
import { Knobs } from './knobs.tsx'
import { bell, comments, composer, conversations, feed, files, presence } from './lists.tsx'
import { messages } from './messages.tsx'

const parts = {
  Messages: messages,
  ConversationList: conversations,
  Composer: composer,
  Feed: feed,
  Comments: comments,
  Files: files,
  NotificationBell: bell,
  Presence: presence,
}

/** Every part of `@parley/react` in every state, fed by a client that stands still. */
function Parts() {
  return (
    <>
      <header className="bar">
        <h1>
          Parts <small>of @parley/react, in all their states</small>
        </h1>
        <Knobs />
        <a href="/">The demo</a>
        <a href="/source/parts/messages.tsx">The code of this page</a>
      </header>
      <main className="parts">
        {Object.entries(parts).map(([part, states]) => (
          <section key={part} aria-labelledby={part} data-part={part}>
            <h2 id={part}>{part}</h2>
            <div className="states">
              {states.map(({ name, still, show }) => (
                <figure key={name} data-state-name={name}>
                  <figcaption>{name}</figcaption>
                  <ParleyProvider parley={createStillParley(still)}>{show}</ParleyProvider>
                </figure>
              ))}
            </div>
          </section>
        ))}
      </main>
    </>
  )
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Parts />
  </StrictMode>,
)
