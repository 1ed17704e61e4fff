import { useEffect, useRef, type ReactNode } from 'react'

/** Presses a button of what it shows, once, so that it is open from the start. */
export function Pressed({ button, children }: { button: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const found = box.current?.querySelector<HTMLButtonElement>(button)
    if (found?.ariaExpanded !== 'true') found?.click()
  }, [button])
  return <div ref={box}>{children}</div>
}

/** Writes a text into the field of what it shows. */
export function Written({ text, children }: { text: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const field = box.current?.querySelector('textarea')
    field?.setRangeText(text, 0, field.value.length, 'end')
    field?.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }, [text])
  return <div ref={box}>{children}</div>
}
