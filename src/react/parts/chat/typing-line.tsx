import { useTyping } from '../../hooks/people.ts'
import type { AppRef } from '../../hooks/items.ts'
import { useMe } from '../base/me.ts'
import { useTexts } from '../base/texts.tsx'

/** Who else is typing. Its height stays the same while nobody is. */
export function TypingLine({ app }: { app: AppRef }) {
  const texts = useTexts()
  const me = useMe()
  const others = useTyping(app).data.filter(({ id }) => id !== me)
  return (
    <p className="pl-typing" aria-live="polite">
      {others.length > 0 && texts.typing(others.map(({ name }) => name))}
    </p>
  )
}
