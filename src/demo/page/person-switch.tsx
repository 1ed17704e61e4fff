import { Avatar } from '@parley/react'
import { people, type Person } from './people.ts'

/** Who one is: the page is loaded again as another person. */
export function PersonSwitch({ user }: { user: string }) {
  return (
    <label className="switch">
      <Avatar of={{ name: people[user as Person] ?? user }} />
      <select aria-label="Person" value={user} onChange={event => location.replace(`?user=${event.target.value}`)}>
        {Object.entries(people).map(([uid, name]) => (
          <option key={uid} value={uid}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
