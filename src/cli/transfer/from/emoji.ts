import { nameToEmoji } from 'gemoji'
import { toEmoji } from '../../../resources/reactions/emoji.ts'

/** What Stream's own reactions look like. */
const others: Record<string, string> = { like: '👍', love: '❤️', haha: '😂', wow: '😮', sad: '😢' }

/** The emoji of a name such as `+1` or `wave::skin-tone-3`; null for those that a workspace has made itself. */
export function emojiOf(name: string): string | null {
  const [base = '', tone] = name.split('::skin-tone-')
  const emoji = nameToEmoji[base] ?? others[base] ?? base
  const modifier = tone === undefined ? '' : String.fromCodePoint(0x1f3fb + Number(tone) - 2)
  return toEmoji(emoji.replace('\uFE0F', '') + modifier) ?? toEmoji(emoji)
}
