const paths = {
  attach: 'm21 11-8.6 8.6a5.5 5.5 0 0 1-7.8-7.8l8.6-8.6a3.7 3.7 0 0 1 5.2 5.2l-8.6 8.6a1.8 1.8 0 0 1-2.6-2.6l7.9-7.9',
  bell: 'M18 8a6 6 0 0 0-12 0c0 7-3 9-3 9h18s-3-2-3-9M13.7 21a2 2 0 0 1-3.4 0',
  close: 'M18 6 6 18M6 6l12 12',
  down: 'M12 5v14m-6-6 6 6 6-6',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  poll: 'M5 20V10m7 10V4m7 16v-7',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14m5-2 5 5',
  smile: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M8 14s1.5 2 4 2 4-2 4-2M9 9.5h.01M15 9.5h.01',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
}

/** A drawing beside a name that is said otherwise. */
export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="pl-icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
