/** The used part of a page's or an app's global scope, where there is one. */
interface Page {
  addEventListener?: (type: string, listener: () => void) => void
  removeEventListener?: (type: string, listener: () => void) => void
  document?: Page & { visibilityState?: string }
}

const lookMs = 1_000

/** A timer that is later by this much has not been running: the machine slept, or the page was frozen. */
const jumpMs = 5_000

/**
 * Calls `onWake` when a connection may have died unnoticed: the page is shown again, the network is back, or the clock
 * jumped. Returns what ends it.
 */
export function watchWaking(onWake: () => void): () => void {
  const page = globalThis as Page
  const onVisible = () => {
    if (page.document?.visibilityState !== 'hidden') onWake()
  }
  let lookedAt = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    const hasJumped = now - lookedAt > lookMs + jumpMs
    lookedAt = now
    if (hasJumped) onWake()
  }, lookMs)
  page.addEventListener?.('online', onWake)
  page.addEventListener?.('pageshow', onWake)
  page.document?.addEventListener?.('visibilitychange', onVisible)
  return () => {
    clearInterval(timer)
    page.removeEventListener?.('online', onWake)
    page.removeEventListener?.('pageshow', onWake)
    page.document?.removeEventListener?.('visibilitychange', onVisible)
  }
}
