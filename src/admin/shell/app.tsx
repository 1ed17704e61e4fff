import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { DeskProvider } from '../parts/desk.tsx'
import type { Refusal } from '../server/refusal.ts'
import { Server, ServerContext } from '../server/server.ts'
import type { AdminSession } from '../server/shapes.ts'
import { texts } from '../texts.ts'
import { Frame } from './frame.tsx'
import { PlaceProvider } from '../place.tsx'
import { SignIn } from './sign-in.tsx'

type State =
  | { state: 'opening' }
  /** `hadSession`: it has ended while the page was open. */
  | { state: 'signed-out'; hadSession: boolean; refusal?: Refusal }
  | { state: 'signed-in'; session: AdminSession }

/** The whole page. Without a session it asks for a key, and then shows the view of the URL. */
export function App() {
  const [shown, setShown] = useState<State>({ state: 'opening' })
  const server = useMemo(() => {
    // Several calls may find out at once.
    const signedOut = (before: State): State =>
      before.state === 'signed-in' ? { state: 'signed-out', hadSession: true } : before
    return new Server(() => setShown(signedOut))
  }, [])

  const open = useCallback(async () => {
    try {
      setShown({ state: 'signed-in', session: await server.session() })
    } catch (error) {
      const refusal = error as Refusal
      const isStranger = refusal.status === 401
      setShown({ state: 'signed-out', hadSession: false, ...(!isStranger && { refusal }) })
    }
  }, [server])
  useEffect(() => void open(), [open])

  if (shown.state === 'opening') return <p class="opening">{texts.opening}</p>
  return (
    <ServerContext.Provider value={server}>
      <PlaceProvider>
        {shown.state === 'signed-out' ? (
          <SignIn hadSession={shown.hadSession} refusal={shown.refusal} onSignedIn={open} />
        ) : (
          <DeskProvider>
            <Frame session={shown.session} />
          </DeskProvider>
        )}
      </PlaceProvider>
    </ServerContext.Provider>
  )
}
