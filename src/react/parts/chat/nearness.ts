import { startTransition, useEffect, useState, type RefObject } from 'react'

/** How far beyond the visible part of a box its rows are made, in pixels. */
const nearPx = 1_500

/** Tells elements in a box whether they are near its visible part. One observer for all costs less than one for each. */
export class Nearness {
  readonly #box: RefObject<HTMLElement | null>
  readonly #watched = new Map<Element, (entry: IntersectionObserverEntry) => void>()
  #observer: IntersectionObserver | undefined

  constructor(box: RefObject<HTMLElement | null>) {
    this.#box = box
  }

  watch(element: Element, tell: (entry: IntersectionObserverEntry) => void): () => void {
    this.#observer ??= new IntersectionObserver(
      entries => entries.forEach(entry => this.#watched.get(entry.target)?.(entry)),
      { root: this.#box.current, rootMargin: `${nearPx}px 0px` },
    )
    this.#watched.set(element, tell)
    this.#observer.observe(element)
    return () => {
      this.#watched.delete(element)
      this.#observer?.unobserve(element)
    }
  }
}

/** Whether an element is near, and its height when it last was. */
export interface Place {
  isNear: boolean
  height: number | undefined
}

/** Where an element is. It stays near while it has the focus, a form that is being filled in, or a part of the selection. */
export function usePlace(nearness: Nearness, element: RefObject<HTMLElement | null>, startsNear: boolean): Place {
  const [place, set] = useState<Place>({ isNear: startsNear, height: undefined })
  useEffect(() => {
    const { current } = element
    if (current === null) return
    return nearness.watch(current, ({ isIntersecting: isNear, boundingClientRect: { height } }) => {
      // Without a height, the whole list is hidden.
      if (!isNear && (height === 0 || isInUse(current))) return
      // Rows may be made in several frames.
      startTransition(() =>
        set(before => (before.isNear === isNear ? before : { isNear, height: isNear ? before.height : height })),
      )
    })
  }, [nearness, element])
  return place
}

function isInUse(element: HTMLElement): boolean {
  const selection = getSelection()
  return element.matches(':has(:focus, form)') || (selection?.type === 'Range' && selection.containsNode(element, true))
}
