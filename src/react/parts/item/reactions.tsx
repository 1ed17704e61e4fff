import type { Content } from '@parley/client'
import { EmojiButton } from '../base/emoji-button.tsx'
import { focusRow } from '../base/focus.ts'
import { useTexts } from '../base/texts.tsx'

const offered = ['👍', '❤️', '😂', '🎉', '😮', '🙏']

export interface ReactionsProps {
  reactions: Content['reactions']
  /** The user's id. */
  me: number | undefined
  onReact: (content: string | null) => void
}

/** Who has reacted with what; pressing one adds the own reaction or takes it back. */
export function Reactions({ reactions, me, onReact }: ReactionsProps) {
  const texts = useTexts()
  const data = reactions?.data ?? []
  if (data.length === 0) return null
  const groups = new Map<string, typeof data>()
  for (const one of data) groups.set(one.content, [...(groups.get(one.content) ?? []), one])
  return (
    <ul className="pl-reactions" aria-label={texts.reactions}>
      {Array.from(groups, ([content, those]) => {
        const isOwn = those.some(({ created_by }) => created_by.id === me)
        return (
          <li key={content}>
            <button
              type="button"
              aria-pressed={isOwn}
              aria-label={texts.reacted(content, those.length)}
              title={those.map(({ created_by }) => created_by.name).join(', ')}
              onClick={({ currentTarget }) => {
                if (isOwn && those.length === 1) focusRow(currentTarget)
                onReact(isOwn ? null : content)
              }}
            >
              <span aria-hidden="true">{content}</span> <span aria-hidden="true">{those.length}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}

/** A button that offers a few emoji to react with. */
export function ReactButton({ onReact }: { onReact: (content: string) => void }) {
  const texts = useTexts()
  return <EmojiButton label={texts.react} emoji={offered} toLabel={texts.reactWith} onChoose={onReact} />
}
