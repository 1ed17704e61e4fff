/** Every emoji of the Unicode list: skin tones, families and flags too, but no digit or letter. */
const emoji = /^\p{RGI_Emoji}$/v

/** What is text where neither a skin tone nor the selector that says "as an emoji" comes behind it, such as a heart. */
const unselected = /(?=\p{Emoji})\P{Emoji_Presentation}(?![\uFE0F\p{Emoji_Modifier}])/gu

/** The emoji that a text is, in the form of the list; null for anything but one emoji. */
export function toEmoji(text: string): string | null {
  // Keyboards and programs often leave out the selector, or some of several.
  const selected = text.replace(unselected, '$&\uFE0F')
  return emoji.test(selected) ? selected : null
}
