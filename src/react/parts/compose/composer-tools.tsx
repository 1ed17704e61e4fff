import { EmojiButton } from '../base/emoji-button.tsx'
import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'
import { useFileChooser } from './file-chooser.tsx'
import type { Uploads } from './uploads.ts'

const emoji = Array.from('😀😂🙂😉😍🤔😅😎😢😮😴🥳👍👎👏🙏💪👋🤝👀🎉🔥✨🚀✅❌💡☕🍰🌱')

export interface ComposerToolsProps {
  uploads: Uploads
  onEmoji: (emoji: string) => void
  /** Makes a poll of what is written; undefined where there can be none, or there is one. */
  onPoll: (() => void) | undefined
}

/** The buttons beside the field. */
export function ComposerTools({ uploads, onEmoji, onPoll }: ComposerToolsProps) {
  const texts = useTexts()
  const chooser = useFileChooser(uploads)
  return (
    <span className="pl-compose-tools">
      <button
        type="button"
        className="pl-icon-button"
        aria-label={texts.attach}
        title={texts.attach}
        onClick={chooser.open}
      >
        <Icon name="attach" />
      </button>
      {chooser.input}
      <EmojiButton label={texts.emoji} emoji={emoji} toLabel={one => one} onChoose={onEmoji} />
      {onPoll !== undefined && (
        <button
          type="button"
          className="pl-icon-button"
          aria-label={texts.makePoll}
          title={texts.makePoll}
          onClick={onPoll}
        >
          <Icon name="poll" />
        </button>
      )}
    </span>
  )
}
