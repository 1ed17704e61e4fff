import { readFileSync } from 'node:fs'

/** The introduction to the API, as Markdown whose links lead to pages of this server: the guide `docs/api.md`. */
export function introduction(): string {
  const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
  return text.replaceAll(/\]\(([\w-]+)\.md(#[\w-]+)?\)/g, '](/docs/$1$2)')
}
