import type { Member } from '@parley/client'
import { Avatar } from '../base/avatar.tsx'
import { useTexts } from '../base/texts.tsx'

export interface MentionListProps {
  id: string
  offered: readonly Member[]
  active: number
  onChoose: (member: Member) => void
}

/** The people that a name being typed may mean. */
export function MentionList({ id, offered, active, onChoose }: MentionListProps) {
  const texts = useTexts()
  return (
    <ul className="pl-mentions" id={id} role="listbox" aria-label={texts.mention} hidden={offered.length === 0}>
      {offered.map((member, index) => (
        <li
          key={member.id}
          id={`${id}-${member.id}`}
          role="option"
          aria-selected={index === active}
          // The field keeps the focus.
          onPointerDown={event => {
            event.preventDefault()
            onChoose(member)
          }}
        >
          <Avatar of={member} /> {member.name}
        </li>
      ))}
    </ul>
  )
}
