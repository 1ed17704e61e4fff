import type { Sql } from '../../postgres/sql.ts'
import type { Question } from './question.ts'
import { foldWords } from './store.ts'

export interface Snippet {
  text: string
  /** What was found, in UTF-16 code units of the text; the end is excluded. */
  marks: Mark[]
}

interface Mark {
  start: number
  end: number
}

/** Where in a long text is looked for what was found, and how much of it is shown. Guesses. */
const lookedAt = 20_000
const shown = 240
const before = 60

/** Words, and single characters of scripts that put nothing between words. */
const unspaced = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}'
const word = new RegExp(`[${unspaced}]|\\p{Extended_Pictographic}|(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])+`, 'gu')

/** A part of a question: words that follow each other. */
interface Term {
  words: string[]
  /** True where the last one need only begin a word. */
  isPrefix: boolean
}

/** The parts of texts in which a question was found, each with marks where. */
export async function toSnippets(sql: Sql, question: Question, texts: string[]): Promise<Snippet[]> {
  const looked = texts.map(text => text.slice(0, lookedAt))
  const fold = await toFold(sql, [question.words, ...looked])
  const terms = toTerms(question, fold)
  return looked.map(text => {
    const marks = findMarks(text, terms, fold)
    return cut(text, marks)
  })
}

type Fold = (word: string) => string

/** Folds all words of texts at once: one query, where any is not plain ASCII. */
async function toFold(sql: Sql, texts: string[]): Promise<Fold> {
  const others = new Set(texts.flatMap(text => text.match(word) ?? []).filter(w => /[^\0-\x7f]/.test(w)))
  const list = [...others]
  const folded = await foldWords(sql, list)
  const known = new Map(list.map((w, at) => [w, folded[at]!]))
  return w => known.get(w) ?? w.toLowerCase()
}

function toTerms({ words, phrases }: Question, fold: Fold): Term[] {
  const split = (text: string) => (text.match(word) ?? []).map(fold)
  return [
    ...words.split(' ').map(text => ({ words: split(text), isPrefix: true })),
    ...phrases.map(text => ({ words: split(text), isPrefix: false })),
  ].filter(({ words }) => words.length > 0)
}

/** In the order of the text, without those that lie in others. */
function findMarks(text: string, terms: readonly Term[], fold: Fold): Mark[] {
  const found = [...text.matchAll(word)].map(match => ({ start: match.index, text: match[0], folded: fold(match[0]) }))
  const marks: Mark[] = []
  for (const [at, { start }] of found.entries()) {
    const lengths = terms.filter(term => fits(term, found, at)).map(({ words }) => words.length)
    if (lengths.length === 0) continue
    const last = found[at + Math.max(...lengths) - 1]!
    const end = last.start + last.text.length
    if (end > (marks.at(-1)?.end ?? 0)) marks.push({ start, end })
  }
  return marks
}

function fits({ words, isPrefix }: Term, found: readonly { folded: string }[], at: number): boolean {
  return words.every((wanted, n) => {
    const folded = found[at + n]?.folded
    if (folded === undefined) return false
    return isPrefix && n === words.length - 1 ? folded.startsWith(wanted) : folded === wanted
  })
}

/** What is shown: from a little before the first mark, between words where there are any. */
function cut(text: string, marks: readonly Mark[]): Snippet {
  const first = marks[0]?.start ?? 0
  const from = first <= before ? 0 : toBoundary(text, first - before, first)
  const end = Math.min(text.length, from + shown)
  const to = end === text.length ? end : toBoundary(text, Math.max(end - before, marks[0]?.end ?? 0), end, true)
  const [head, tail] = [from > 0 ? '…' : '', to < text.length ? '…' : '']
  const shift = head.length - from
  return {
    text: head + text.slice(from, to) + tail,
    marks: marks.filter(mark => mark.end <= to).map(({ start, end }) => ({ start: start + shift, end: end + shift })),
  }
}

/** The first, or last, beginning of a word between two places; otherwise the first place that cuts no character in two. */
function toBoundary(text: string, from: number, to: number, isLast = false): number {
  const part = text.slice(from, to)
  const at = isLast ? part.search(/\s\S*$/) : part.search(/\s\S/) + 1
  if (at > 0) return from + at
  const place = isLast ? to : from
  return /[\udc00-\udfff]/.test(text[place] ?? '') ? place + 1 : place
}
