import { createContext, type ComponentChildren } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'

/** How long a notice stays: long enough to be read twice. */
const noticeMs = 6_000

/** Opens dialogs and notices over the view. */
interface Desk {
  /** Shows a dialog until it is closed: by Escape, by its cross, or by what is in it. */
  open(dialog: ComponentChildren): void
  /** Shows a notice for a while. */
  notify(text: string): void
}

const DeskContext = createContext<Desk | null>(null)

export function useDesk(): Desk {
  return useContext(DeskContext)!
}

const CloseContext = createContext(() => {})

/** What closes the dialog around it. */
export function useClose(): () => void {
  return useContext(CloseContext)
}

interface Piece {
  id: number
  content: ComponentChildren
}

const without = (id: number) => (pieces: Piece[]) => pieces.filter(piece => piece.id !== id)

export function DeskProvider({ children }: { children: ComponentChildren }) {
  const [dialogs, setDialogs] = useState<Piece[]>([])
  const [notices, setNotices] = useState<Piece[]>([])
  const made = useRef(0)
  /** The element that opened the first of the dialogs. */
  const opener = useRef<HTMLElement | null>(null)
  const desk = useMemo<Desk>(
    () => ({
      open(content) {
        const id = ++made.current
        opener.current ??= document.activeElement as HTMLElement | null
        setDialogs(before => [...before, { id, content }])
      },
      notify(text) {
        const id = ++made.current
        setNotices(before => [...before.slice(-2), { id, content: text }])
        window.setTimeout(() => setNotices(without(id)), noticeMs)
      },
    }),
    [],
  )
  useEffect(() => {
    if (dialogs.length > 0 || opener.current === null) return
    // With its row it may be gone: then reading goes on at the view.
    const target = opener.current.isConnected ? opener.current : document.getElementById('content')
    opener.current = null
    target?.focus({ preventScroll: true })
  }, [dialogs])
  return (
    <DeskContext.Provider value={desk}>
      {children}
      {dialogs.map(({ id, content }) => (
        <CloseContext.Provider key={id} value={() => setDialogs(without(id))}>
          {content}
        </CloseContext.Provider>
      ))}
      <div class="notices" role="status" aria-label={texts.notices}>
        {notices.map(({ id, content }) => (
          <div class="notice" key={id}>
            <Icon name="check" />
            <span>{content}</span>
          </div>
        ))}
      </div>
    </DeskContext.Provider>
  )
}
