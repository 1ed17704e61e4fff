/** Every emoji of the Unicode list: skin tones, families and flags too, but no digit or letter. */
const emoji = /^\p{RGI_Emoji}$/v

/** Asks for the colourful form of what is text otherwise, such as a heart. */
const variation = '\uFE0F'

/** The emoji that a text is, in the form of the list; null for anything but one emoji. */
export function toEmoji(text: string): string | null {
  if (emoji.test(text)) return text
  // Keyboards and programs often leave out the selector that says "as an emoji".
  return emoji.test(text + variation) ? text + variation : null
}
