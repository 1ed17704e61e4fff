import { StrictMode, useState, type ComponentType } from 'react'
import { createRoot } from 'react-dom/client'
import { createParley, type Notification } from '@parley/client'
import { NotificationBell, ParleyProvider, useConnection, useUnread } from '@parley/react'
import { Chat } from './chat.tsx'
import { Documents } from './documents.tsx'
import { News } from './news.tsx'
import { PersonSwitch } from './person-switch.tsx'

const user = new URLSearchParams(location.search).get('user') ?? 'ada'

const parley = createParley({
  url: location.origin,
  token: async () => {
    const response = await fetch(`/token?user=${user}`)
    return ((await response.json()) as { access_token: string }).access_token
  },
})

interface View {
  name: string
  Page: ComponentType
  source: string
}

const views: readonly View[] = [
  { name: 'Chat', Page: Chat, source: 'chat.tsx' },
  { name: 'News', Page: News, source: 'news.tsx' },
  { name: 'Documents', Page: Documents, source: 'documents.tsx' },
]

/** Where a notification leads. */
function toView({ link }: Notification): string {
  const type = link?.parent?.type ?? link?.type
  return type === 'post' ? 'News' : type === 'file' ? 'Documents' : 'Chat'
}

/** The workspace as one person has it. */
function Person() {
  const [view, show] = useState('Chat')
  const { Page, source } = views.find(({ name }) => name === view)!
  return (
    <div className="person">
      <header className="bar">
        <PersonSwitch user={user} />
        <nav aria-label="Views">
          {views.map(({ name }) => (
            <button key={name} aria-current={name === view || undefined} onClick={() => show(name)}>
              {name}
              {name === 'Chat' && <UnreadChats />}
            </button>
          ))}
        </nav>
        <NotificationBell onOpen={notification => show(toView(notification))} />
      </header>
      <main>
        <h1 className="pl-hidden">{view}</h1>
        <Page />
      </main>
      <footer>
        <Connection />
        <a href={`/source/${source}`} target="_blank" rel="noreferrer">
          The code of this page
        </a>
      </footer>
    </div>
  )
}

function UnreadChats() {
  const { count } = useUnread().data
  return count === 0 ? null : <span className="count">{count}</span>
}

function Connection() {
  const { status } = useConnection()
  return (
    <span data-status={status} className="connection">
      {status === 'live' ? 'Live' : 'Connecting…'}
    </span>
  )
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <ParleyProvider parley={parley}>
      <Person />
    </ParleyProvider>
  </StrictMode>,
)
