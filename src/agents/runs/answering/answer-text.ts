/** Web sources named at the end of an answer. */
const sourceLimit = 5

/** The most characters of an answer: a message's limit, with room for additions. */
const lengthLimit = 65_000

/** A model's text for readers: without its thoughts, its own name in front, and surrounding blank space. */
export function cleanText(text: string, agentName: string): string {
  let clean = text.trim()
  for (;;) {
    const before = clean
    clean = clean.replace(/^<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>\s*/i, '')
    if (clean.toLowerCase().startsWith(`${agentName.toLowerCase()}:`)) clean = clean.slice(agentName.length + 1).trim()
    if (clean === before) return clean
  }
}

/** The text followed by its web sources, each once. */
export function withSources(text: string, sources: readonly { url: string; title: string }[]): string {
  const shown = new Map<string, string>()
  for (const { url, title } of sources) {
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol) || shown.has(parsed.href)) continue
    if (shown.size < sourceLimit) shown.set(parsed.href, toLabel(title) || parsed.host)
  }
  if (shown.size === 0) return text
  const links = Array.from(shown, ([url, label]) => `[${label}](<${url}>)`)
  return `${text}\n\nSources: ${links.join(', ')}`
}

function toLabel(title: string): string {
  return title
    .replace(/[[\]<>`*_\\\s]+/g, ' ')
    .trim()
    .slice(0, 200)
}

/** The text cut at the end of a line, and whether it was. */
export function cutText(text: string): { text: string; isCut: boolean } {
  if (text.length <= lengthLimit) return { text, isCut: false }
  const head = text.slice(0, lengthLimit)
  const end = head.lastIndexOf('\n')
  return { text: `${(end > 0 ? head.slice(0, end) : head).trimEnd().toWellFormed()}\n…`, isCut: true }
}

interface Cited {
  text: string
  /** In the order of their first citation. */
  files: number[]
}

/**
 * Resolves `[n]` to the given passages, and renumbers the citations from 1, one number per file in the order of first
 * citation. `files[n - 1]` is the file of passage n.
 */
export function resolveCitations(text: string, files: readonly number[]): Cited {
  const cited: number[] = []
  const rewritten = text.replace(/\[(\d{1,4})\](?![([:])/g, (whole, digits: string) => {
    const file = files[Number(digits) - 1]
    if (file === undefined) return whole
    if (!cited.includes(file)) cited.push(file)
    return `[${cited.indexOf(file) + 1}]`
  })
  return { text: rewritten, files: cited }
}
