/** An emoji of the Unicode list: skin tones, families and flags included, but no digit or letter. */
const emoji = /^\p{RGI_Emoji}$/v

/** Characters such as a heart that are text unless a skin tone or the emoji selector follows. */
const unselected = /(?=\p{Emoji})\P{Emoji_Presentation}(?![\uFE0F\p{Emoji_Modifier}])/gu

/** The emoji that a text consists of, in the list's form; null for any other text. */
export function toEmoji(text: string): string | null {
  // Keyboards and programs often leave out selectors.
  const selected = text.replace(unselected, '$&\uFE0F')
  return emoji.test(selected) ? selected : null
}
