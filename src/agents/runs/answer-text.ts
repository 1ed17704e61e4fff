/** Web sources named at the end of an answer. */
const mostSources = 5

/** As much as a message can hold, with room for what is added to it. */
const longest = 65_000

/** A model's text as people are to read it: without its thoughts, its own name before it, and blank space around it. */
export function cleanText(text: string, agentName: string): string {
  let clean = text.trim()
  for (;;) {
    const before = clean
    clean = clean.replace(/^<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>\s*/i, '')
    if (clean.toLowerCase().startsWith(`${agentName.toLowerCase()}:`)) clean = clean.slice(agentName.length + 1).trim()
    if (clean === before) return clean
  }
}

/** The text with the web pages that it rests on, each once. */
export function withSources(text: string, sources: readonly { url: string; title: string }[]): string {
  const shown = new Map<string, string>()
  for (const { url, title } of sources) {
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol) || shown.has(parsed.href)) continue
    if (shown.size < mostSources) shown.set(parsed.href, toLabel(title) || parsed.host)
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
  if (text.length <= longest) return { text, isCut: false }
  const head = text.slice(0, longest)
  const end = head.lastIndexOf('\n')
  return { text: `${(end > 0 ? head.slice(0, end) : head).trimEnd().toWellFormed()}\n…`, isCut: true }
}

interface Cited {
  text: string
  /** In the order of their first citation. */
  files: number[]
}

/**
 * Follows `[n]` to the passages that were given, and writes 1, 2, … instead, one for each file in the order in which they
 * are first cited. `files[n - 1]` is the file of passage n.
 */
export function settleCitations(text: string, files: readonly number[]): Cited {
  const cited: number[] = []
  const rewritten = text.replace(/\[(\d{1,4})\](?![([:])/g, (whole, digits: string) => {
    const file = files[Number(digits) - 1]
    if (file === undefined) return whole
    if (!cited.includes(file)) cited.push(file)
    return `[${cited.indexOf(file) + 1}]`
  })
  return { text: rewritten, files: cited }
}
