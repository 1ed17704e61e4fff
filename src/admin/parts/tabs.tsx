import { Link } from '../place.tsx'

interface TabsProps {
  label: string
  tabs: { to: string; title: string }[]
  current: string
}

/** Views of one thing, each with an address of its own. */
export function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ to, title }) => (
        <Link key={to} to={to} isCurrent={to === current}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
