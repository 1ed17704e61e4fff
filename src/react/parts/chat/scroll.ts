import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

/** Pixels from the end within which a list is at its end. */
const nearPx = 40

/**
 * The scrolling of a list that begins at its end: its box is laid out in reverse, so that 0 is the newest row, older rows
 * push nothing away, and new ones show by themselves while it is at the end.
 */
export function useScroll(box: RefObject<HTMLElement | null>): { isAtEnd: boolean; toEnd: () => void } {
  const [isAtEnd, set] = useState(true)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const onScroll = () => set(element.scrollTop > -nearPx)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [box])
  const toEnd = useCallback(() => void box.current?.scrollTo({ top: 0 }), [box])
  return { isAtEnd, toEnd }
}

/** Calls back when an element comes near the visible part of a box. */
export function useNear(
  box: RefObject<HTMLElement | null>,
  element: RefObject<HTMLElement | null>,
  isWanted: boolean,
  onNear: () => void,
): void {
  const call = useRef(onNear)
  useEffect(() => {
    call.current = onNear
  })
  useEffect(() => {
    if (!isWanted || element.current === null) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && call.current(), {
      root: box.current,
      rootMargin: '800px',
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [box, element, isWanted])
}
