import type { Section } from './guides.ts'
import { escapeHtml } from './markdown.ts'

/** A section, and what it is searched by. */
interface Indexed extends Section {
  heading: string
  lower: string
}

/** The most that one page of results shows. */
const mostFound = 30

/** How much of a text is shown around the first word that was found. */
const around = 160

const most = { words: 8, characters: 100 }

/** Makes sections ready for `search`: changing the case of all of them takes longer than to look through them. */
export function toIndex(sections: readonly Section[]): Indexed[] {
  return sections.map(section => {
    const { page, title, text } = section
    return { ...section, heading: `${page} ${title}`.toLowerCase(), lower: text.toLowerCase() }
  })
}

/** Finds the sections that have all words, those with words in the heading first, and shows where. */
export function search(sections: readonly Indexed[], query: string): string {
  const words = query.slice(0, most.characters).toLowerCase().split(/\s+/).filter(Boolean).slice(0, most.words)
  if (words.length === 0) return '<h1>Search</h1>\n<p>Type what you look for.</p>'
  const found = sections
    .map(section => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
  const shown = found.slice(0, mostFound).map(({ section }) => show(section, words))
  const count = found.length === 0 ? 'Nothing was found' : `${found.length} found`
  return `<h1>${count} for “${escapeHtml(query.slice(0, most.characters))}”</h1>\n<ul class="found">${shown.join('\n')}</ul>`
}

/** 0: a word is missing. Words in a heading count ten times, whole words twice. */
function rankOf({ heading, lower }: Indexed, words: readonly string[]): number {
  let rank = 0
  for (const word of words) {
    const [inHeading, inText] = [weigh(heading, word), weigh(lower, word)]
    if (inHeading + inText === 0) return 0
    rank += inHeading * 10 + inText
  }
  return rank
}

function weigh(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at === -1) return 0
  return isWithin(text, at - 1) || isWithin(text, at + word.length) ? 1 : 2
}

/** True where a letter, a digit or `_` stands there. */
function isWithin(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95
  return at >= 0 && at < text.length && /[\p{L}\p{N}]/u.test(text[at]!)
}

function show({ page, title, path, text, lower }: Indexed, words: readonly string[]): string {
  const places = words.map(word => lower.indexOf(word)).filter(at => at !== -1)
  const at = places.length === 0 ? 0 : Math.min(...places)
  const start = Math.max(0, at - around / 2)
  const part = `${start > 0 ? '…' : ''}${text
    .slice(start, start + around)
    .replaceAll('\n', ' ')
    .trim()}…`
  const name = page === title ? page : `${page}: ${title}`
  return `<li><a href="${path}">${escapeHtml(name)}</a><p>${mark(part, words)}</p></li>`
}

function mark(text: string, words: readonly string[]): string {
  const pattern = new RegExp(`(${words.map(word => word.replace(/[^\p{L}\p{N}_]/gu, '\\$&')).join('|')})`, 'giu')
  return text
    .split(pattern)
    .map((part, i) => (i % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part)))
    .join('')
}
