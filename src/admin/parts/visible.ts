/** What turns the order of the characters around it, and makes `\u202Egpj.exe` look like `exe.jpg` (Unicode, UAX #9, 2.1 to 2.4). */
const turns = /[\u202a-\u202e\u2066-\u2069]/g

/** What shows nothing by itself, with blanks that Unicode counts as symbols and letters (Braille, Hangul). */
const unseen = /\p{Cc}|\p{Cf}|\p{Z}|\p{Mn}|\u2800|\u3164|\uffa0|\u115f|\u1160/gu

/** What somebody chose to be called, without what would make it look like something else; undefined where nothing could be seen. */
export function toVisible(name: string): string | undefined {
  const shown = name.replace(turns, '')
  return shown.replace(unseen, '') === '' ? undefined : shown
}

/** A value within a sentence, whose direction ends with it. */
export const isolated = (value: string) => `\u2068${value.replace(turns, '')}\u2069`
