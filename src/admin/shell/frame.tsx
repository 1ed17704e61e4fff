import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, Mark } from '../parts/icon.tsx'
import { nameOf } from '../parts/names.tsx'
import { useServer } from '../server/server.ts'
import type { AdminSession } from '../server/shapes.ts'
import { texts } from '../texts.ts'
import { Navigation } from './navigation.tsx'
import { usePlace } from '../place.tsx'
import { findPage } from './pages.tsx'

/** What stands around every view: the way to the others, whose key it is, and how to leave. */
export function Frame({ session }: { session: AdminSession }) {
  const { path } = usePlace()
  const [isOpen, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  const arrived = useRef(path)
  const page = findPage(path)

  useEffect(() => {
    document.title = `${page?.title ?? texts.notFound.title} · ${texts.product}`
    setOpen(false)
    // A reader of screens is told of the new view; what was opened first is announced by the browser.
    if (arrived.current !== path) main.current?.focus({ preventScroll: true })
    arrived.current = path
  }, [path, page?.title])

  const leaveMenu = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return
    setOpen(false)
    menu.current?.focus()
  }

  return (
    <div class={isOpen ? 'frame is-open' : 'frame'} onKeyDown={leaveMenu}>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <header class="top">
        <button
          ref={menu}
          class="button quiet icon-only"
          aria-label={texts.navigation.menu}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <Mark />
        <strong>{page?.title ?? texts.product}</strong>
      </header>
      <aside class="side" id="navigation">
        <div class="brand">
          <Mark />
          <strong>{texts.product}</strong>
        </div>
        <Navigation path={path} />
        <Leave session={session} />
      </aside>
      <main id="content" class="content" tabIndex={-1} ref={main}>
        {page === null ? <NotFound /> : <page.View key={path} {...page.params} />}
      </main>
    </div>
  )
}

function Leave({ session }: { session: AdminSession }) {
  const server = useServer()
  return (
    <div class="leave">
      <div class="leave-key">
        <span class="muted small">{texts.signOut.as}</span>
        <span class="one-line" title={nameOf(session.key)}>
          {nameOf(session.key)}
        </span>
      </div>
      <button
        class="button quiet icon-only"
        aria-label={texts.signOut.submit}
        title={texts.signOut.submit}
        onClick={() => void server.signOut().catch(() => location.reload())}
      >
        <Icon name="leave" />
      </button>
    </div>
  )
}

function NotFound() {
  return (
    <div class="empty">
      <h1>{texts.notFound.title}</h1>
      <p class="muted">{texts.notFound.hint}</p>
    </div>
  )
}
