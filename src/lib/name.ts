/**
 * Names: uids, usernames, directory names, tags, file names, poll options. Each is stored in NFC and compared by
 * `foldName`, which `fold_name` is in PostgreSQL (0046_names.sql), whatever the locale of the database.
 */

/** Letters that Unicode composes are one character, however they were typed; blank space around a name is none of it. */
export function toName(text: string): string {
  return text.normalize('NFC').trim()
}

/** Ignored in comparisons: invisible, but for the letters within flags, which tell England from Scotland. */
const ignored = /[\p{Default_Ignorable_Code_Point}--[\u{e0020}-\u{e007f}]]/gv

/**
 * What a name is compared by: two names are one where their folds are equal. Case does not count, by pairs of single
 * letters: `Σ`, `σ` and `ς` are one, `ſ` is `s`, `ẞ` is `ß` but not `ss`, and `İ` is `i`, which has its dot. Canonically
 * equivalent letters are one, so `Å` is the sign of the Ångström; compatible ones, such as `ﬁ` and `fi`, are not.
 * Characters that are never seen do not count.
 */
export function foldName(name: string): string {
  if (/^\p{ASCII}*$/u.test(name)) return name.toLowerCase()
  return name
    .normalize('NFC')
    .replace(ignored, '')
    .replace(/\P{M}/gu, foldLetter)
    .replace(/i\u0307+/g, 'i')
    .normalize('NFC')
}

function foldLetter(letter: string): string {
  // Without a pair: the capital `I` belongs to `i`.
  if (letter === 'ı') return letter
  if (letter === 'İ') return 'i'
  const capital = letter.toUpperCase()
  // Letters that differ, but have one capital, such as `σ` and `ς`, are one. `ß` has no single capital.
  return (capital.length === letter.length ? capital : letter).toLowerCase()
}

/** Nothing of these is seen: white space, what Unicode ignores, and four letters and signs that are blank. */
const invisible = String.raw`\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}`
/** Beside them, accents, which need a letter to stand on. */
const visible = new RegExp(String.raw`[^${invisible}\p{Mn}\p{Me}]`, 'u')
const hidden = new RegExp(`[${invisible}]`, 'u')

/** True where nothing of a text is seen. */
export function isBlank(text: string): boolean {
  return !visible.test(text)
}

/** True where a name has a character that is not seen, or that turns the direction of what follows. */
export function hasHidden(name: string): boolean {
  return hidden.test(name)
}

/** Marks that turn the direction of text: `photo\u202egnp.exe` looks as if it ended in `exe.png`. */
const directions = /\p{Bidi_Control}/gu

export function hasDirection(name: string): boolean {
  return name.search(directions) !== -1
}

export function withoutDirection(name: string): string {
  return name.replace(directions, '')
}

/** Marks that hold on beyond the text that they are in, or end what holds. */
const embeddings = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * A name within a sentence, between U+2068 and U+2069 where it may have a direction: the rest of the sentence then stays
 * where it is. Names of ASCII alone cannot turn anything, and stay as they are.
 */
export function isolate(name: string): string {
  if (/^\p{ASCII}*$/u.test(name)) return name
  return `\u2068${name.replace(embeddings, '').replace(/[\u2028\u2029\x85]/g, ' ')}\u2069`
}
