import type { Option } from '@parley/client'
import { useTexts } from '../base/texts.tsx'

/** The options of a poll, each with its share of the votes. */
export function Poll({
  options,
  onVote,
}: {
  options: readonly Option[] | undefined
  onVote: (option: number) => void
}) {
  const texts = useTexts()
  if (options === undefined || options.length === 0) return null
  const all = options.reduce((sum, { votes }) => sum + votes.count, 0)
  return (
    <ul className="pl-poll" aria-label={texts.poll}>
      {options.map(({ id, text, votes, has_voted }) => (
        <li key={id}>
          <button type="button" aria-pressed={has_voted} onClick={() => onVote(id)}>
            <span className="pl-share" style={{ inlineSize: `${all === 0 ? 0 : (votes.count / all) * 100}%` }} />
            <span>{text}</span>
            <span className="pl-muted">{texts.votes(votes.count)}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
