import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { useClose } from './desk.tsx'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
}

/** What a dialog is for: its first field, or the first thing to do with it; the cross in its head comes last. */
const firstControl = '.form :is(input, select, textarea, button):not(:disabled)'

/** The browser's own modal dialog: it keeps the focus inside. The desk gives it back. */
export function Dialog({ title, children }: DialogProps) {
  const close = useClose()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>(firstControl)?.focus()
  }, [])
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby={id} onClose={close}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet icon-only" aria-label={texts.close} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  )
}
