import { base } from './base.ts'
import { createContext, type ComponentChildren } from 'preact'
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks'

/** The current view, with its filters and page, as the URL has them. */
export interface Place {
  /** Begins with a slash, without the base: `/users/17`. */
  path: string
  query: URLSearchParams
  /** Goes to a view; in the browser's history it is a step. */
  go(to: string): void
  /**
   * Changes filters of this view: empty and undefined remove one. `isReplacing`: without an entry in the browser's
   * history.
   */
  filter(changes: Record<string, string | undefined>, options?: { isReplacing?: boolean }): void
}

const PlaceContext = createContext<Place | null>(null)

export function usePlace(): Place {
  return useContext(PlaceContext)!
}

/** Follows the address bar, and keeps it. */
export function PlaceProvider({ children }: { children: ComponentChildren }) {
  const [address, setAddress] = useState(readAddress)
  useEffect(() => {
    const onStep = () => setAddress(readAddress())
    window.addEventListener('popstate', onStep)
    return () => window.removeEventListener('popstate', onStep)
  }, [])

  const go = useCallback((to: string) => {
    history.pushState(null, '', toHref(to))
    setAddress(readAddress())
    window.scrollTo(0, 0)
  }, [])
  const filter = useCallback<Place['filter']>((changes, { isReplacing = false } = {}) => {
    const query = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') query.delete(name)
      else query.set(name, value)
    }
    const target = query.size === 0 ? location.pathname : `${location.pathname}?${query}`
    if (isReplacing) history.replaceState(null, '', target)
    else history.pushState(null, '', target)
    setAddress(readAddress())
  }, [])

  const place = useMemo(() => {
    const [path = '', search = ''] = address.split('?', 2)
    return { path, query: new URLSearchParams(search), go, filter }
  }, [address, go, filter])
  return <PlaceContext.Provider value={place}>{children}</PlaceContext.Provider>
}

interface LinkProps {
  to: string
  class?: string
  isCurrent?: boolean
  children: ComponentChildren
}

/** A link to a view: a real one, so that it opens in a tab of its own too. */
export function Link({ to, class: className, isCurrent = false, children }: LinkProps) {
  const { go } = usePlace()
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    go(to)
  }
  return (
    <a href={toHref(to)} class={className} onClick={onClick} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
}

/** The values of a template's `:names` in a path; null where it is another one. */
export function matchPath(template: string, path: string): Record<string, string> | null {
  const expected = template.split('/')
  const given = path.split('/')
  if (expected.length !== given.length) return null
  const values: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const value = given[index]!
    if (part.startsWith(':') && value !== '') values[part.slice(1)] = decode(value)
    else if (part !== value) return null
  }
  return values
}

const toHref = (to: string) => (to === '/' ? base : `${base}${to}`)

function readAddress(): string {
  const path = location.pathname.slice(base.length).replace(/\/$/, '')
  return `${path === '' ? '/' : path}${location.search}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not valid percent-encoding: it names nothing, whatever is asked for by it.
    return text
  }
}
