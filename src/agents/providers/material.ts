import type { ModelRequest } from './provider.ts'

/** Data given with a question: a file, a blob of its context, a passage of knowledge. */
export interface Material {
  kind: string
  /** The number to cite, for a passage. */
  n: string | undefined
  content: string
  /** The whole element, tags included. */
  text: string
}

/** The `<data …>` elements before the question, in order; not ones within the question itself. */
export function listMaterial({ turns, question }: Pick<ModelRequest, 'turns' | 'question'>): Material[] {
  for (const turn of turns.toReversed()) {
    if (turn.role !== 'user') continue
    const text = turn.parts.flatMap(part => ('text' in part ? [part.text] : [])).join('\n\n')
    const end = text.lastIndexOf(question)
    if (end >= 0) return toMaterials(text.slice(0, end))
  }
  return []
}

function toMaterials(text: string): Material[] {
  return [...text.matchAll(/<data ([^>]*)>\n?([\s\S]*?)\n?<\/data>/g)].map(([all, attributes = '', content = '']) => {
    const attribute = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1]
    return { kind: attribute('kind') ?? '', n: attribute('n'), content, text: all }
  })
}
