import { useMembers, usePresence } from '../hooks/people.ts'
import type { AppRef } from '../hooks/items.ts'
import { Avatar } from './base/avatar.tsx'
import { useTexts } from './base/texts.tsx'

export interface PresenceProps {
  app: AppRef
  /** The most people that are shown; further ones are counted. */
  max?: number
}

/** The members of an app, and who of them is there now. */
export function Presence({ app, max = 5 }: PresenceProps) {
  const texts = useTexts()
  const members = useMembers(app)
  const present = usePresence(app).data
  const sorted = [...members.data].sort((a, b) => Number(present.has(b.id)) - Number(present.has(a.id)))
  return (
    <ul className="pl-presence">
      {sorted.slice(0, max).map(member => {
        const name = `${member.name}, ${present.has(member.id) ? texts.online : texts.offlineNow}`
        return (
          <li key={member.id} title={name}>
            <Avatar of={member} isPresent={present.has(member.id)} />
            <span className="pl-hidden">{name}</span>
          </li>
        )
      })}
      {sorted.length > max && <li>+{sorted.length - max}</li>}
    </ul>
  )
}
