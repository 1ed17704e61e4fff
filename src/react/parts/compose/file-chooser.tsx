import { useRef, type ReactNode } from 'react'
import type { Uploads } from './uploads.ts'

/** The dialog in which files are chosen to be uploaded: a hidden field, and what opens it. */
export function useFileChooser(uploads: Uploads): { input: ReactNode; open: () => void } {
  const field = useRef<HTMLInputElement>(null)
  const input = (
    <input
      ref={field}
      type="file"
      multiple
      hidden
      onChange={event => {
        uploads.add(Array.from(event.target.files ?? []))
        event.target.value = ''
      }}
    />
  )
  return { input, open: () => field.current?.click() }
}
