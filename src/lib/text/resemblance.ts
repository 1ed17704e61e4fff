/** Longer names are compared with nothing: to compare takes time in proportion to the product of the lengths. */
const longestCompared = 64

/**
 * The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal
 * string alignment); Infinity where it is above `most`.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Infinity
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const isEqual = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isEqual ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      row[j] = cost
      least = Math.min(least, cost)
    }
    if (least > most) return Infinity
    before = last
    last = row
  }
  return last[b.length]! > most ? Infinity : last[b.length]!
}

/** The name without case and without what separates words. */
function plain(name: string): string {
  return name.replaceAll(/[_\-. ]/g, '').toLowerCase()
}

/** How many edits may lie between a name and what was meant: nearly all words of two letters are one edit apart. */
function editsWithin(length: number): number {
  return length < 3 ? 0 : length < 8 ? 1 : 2
}

/**
 * The known name that was most likely meant by a name of a member or parameter: one that differs in case, in what
 * separates its words, in number (`member`, `members`), or by a slip of the keyboard; undefined where none does.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > longestCompared) return undefined
  const given = plain(name)
  let nearest: string | undefined
  let least = Infinity
  for (const candidate of known) {
    const meant = plain(candidate)
    const edits = editsWithin(Math.min(given.length, meant.length))
    const isPlural = given === `${meant}s` || meant === `${given}s`
    const distance = isPlural ? 1 : editDistance(given, meant, edits)
    // Among three letters, a replaced one makes another word: `mid` is not meant to be `uid`.
    if (distance === 1 && given.length === 3 && meant.length === 3 && !isSwapped(given, meant)) continue
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

function isSwapped(a: string, b: string): boolean {
  return Array.from(a).toSorted().join() === Array.from(b).toSorted().join()
}

/** ` Did you mean name?`, or nothing. */
export function suggestion(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}
