/** Outlines in a square of 24, drawn for this page. */
const outlines = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM14 4v3h6V4zM4 20h6v-3H4z',
  users:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5',
  directory: 'M3 6h6l2 3h10v10H3zM7 14h10',
  apps: 'M4 5h16v11H9l-5 4z',
  storage: 'M4 6c0-3 16-3 16 0s-16 3-16 0zM4 6v12c0 3 16 3 16 0V6M4 12c0 3 16 3 16 0',
  key: 'M15 4a5 5 0 1 1-4.5 7.2L4 17.7V20h3v-2h2v-2h2l1.2-2.1M16 9h.01',
  client: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  agent: 'M6 8h12v10H6zM12 4v4M9.5 13h.01M14.5 13h.01M3 12v3M21 12v3',
  webhook: 'M12 4a3.5 3.5 0 0 1 3 5.3L18 15M8.5 9.5 6 14M4 17.500a3 3 0 1 0 6 0h8M18 20.500a3 3 0 1 0 0-6',
  delivery: 'M3 11 21 4l-6 17-4-7zM11 14l10-10',
  realtime: 'M13 3 5 14h6l-1 7 8-11h-6z',
  metrics: 'M4 4v16h16M8 15l4-5 3 3 5-7',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3',
  jobs: 'M12 4a8 8 0 1 1-7.4 5M4 4v5h5M12 8v4l3 2',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  reference: 'M4 5c3-1 6-1 8 1 2-2 5-2 8-1v14c-3-1-6-1-8 1-2-2-5-2-8-1zM12 6v14',
  leave: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  warning: 'M12 4 2.500 20h19zM12 10v4M12 17h.01',
  check: 'M5 13l4 4L19 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  back: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  plus: 'M12 5v14M5 12h14',
} as const

export type IconName = keyof typeof outlines

/** A drawing beside words, or instead of them where something else names it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={outlines[name]} />
    </svg>
  )
}

/** The sign of the product. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="32" height="32" rx="8" />
      <path class="mark-bubble" d="M8 9h12v9h-6l-4 4v-4H8z" />
      <path class="mark-echo" d="M22 13h2v8h-2v3l-3-3h-4" />
    </svg>
  )
}
