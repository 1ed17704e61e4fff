import type { Excerpt, Turn, UserPart } from '../../../../agents/providers/provider.ts'
import { cutBytes } from '../../../../agents/tools/result.ts'
import type { Said } from './history.ts'

/** Characters of a name that a model gets. */
const nameLimit = 128

/** The most tokens of earlier items. A guess. */
const historyTokens = 8_000

/** Material of a question: a passage, a blob, an attachment. */
export interface Material {
  kind: 'passage' | 'context' | 'file'
  name: string
  /** The number to cite, for a passage. */
  n?: number
  text: string
}

/** All material of a question; of each kind the best, or first, comes first. */
export interface Materials {
  passages: Material[]
  context: Material[]
  files: Material[]
  images: { image: Buffer; type: string }[]
}

interface TurnParts {
  agent: number
  history: readonly Said[]
  question: Said
  materials: Materials
  /** The names put before texts of users; null: none are. */
  nameOf: ((user: number) => string) | null
  /** The limit of the request without the system prompt. */
  tokens: number
}

/**
 * The tokens of a text, at most: the estimate is on the safe side. A guess: fewer than three bytes per token are rare.
 */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3)
}

/**
 * The turns of a conversation up to the question, and the material in the last of them, within a budget. The question is
 * never cut; dropped are, in this order: the oldest items, the worst passages, the page's context, the last attachments.
 */
export function toTurns({ agent, history, question, materials, nameOf, tokens }: TurnParts) {
  const asked = named(question, nameOf)
  let room = tokens - countTokens(asked)
  const keep = (list: readonly Material[]) => {
    const kept: Excerpt[] = []
    for (const material of list) {
      const excerpt = toExcerpt(material, room)
      if (excerpt === null) break
      room -= countTokens(excerpt.text)
      kept.push(excerpt)
    }
    return kept
  }
  // The last to be dropped is allocated first.
  const files = keep(materials.files)
  const context = keep(materials.context)
  const passages = keep(materials.passages)
  const before = fit(history, agent, nameOf, Math.min(historyTokens, room))
  const excerpts = [...passages, ...context, ...files]
  const text = [...excerpts.map(({ text }) => text), asked].join('\n\n')
  return { turns: join(before, [...materials.images, { text }]), excerpts }
}

/** The newest items that fit, in the order of writing. */
function fit(history: readonly Said[], agent: number, nameOf: TurnParts['nameOf'], tokens: number) {
  let left = tokens
  const kept: { isAgent: boolean; text: string }[] = []
  for (const said of history.toReversed()) {
    const isAgent = said.author === agent
    const text = isAgent ? said.text : named(said, nameOf)
    left -= countTokens(text)
    if (left < 0) break
    kept.push({ isAgent, text })
  }
  return kept.reverse()
}

/** Vendors require turns to alternate, and the first to be the user's. */
function join(before: { isAgent: boolean; text: string }[], asked: UserPart[]): Turn[] {
  const turns: { isAgent: boolean; texts: string[] }[] = []
  for (const { isAgent, text } of before) {
    const last = turns.at(-1)
    if (last?.isAgent === isAgent) last.texts.push(text)
    else if (!isAgent || turns.length > 0) turns.push({ isAgent, texts: [text] })
  }
  const last = turns.at(-1)?.isAgent === false ? turns.pop()! : null
  const earlier: Turn[] = turns.map(({ isAgent, texts }) => {
    const text = texts.join('\n\n')
    return isAgent ? { role: 'agent', text } : { role: 'user', parts: [{ text }] }
  })
  return [...earlier, { role: 'user', parts: last === null ? asked : withEarlier(asked, last.texts) }]
}

function withEarlier(asked: UserPart[], texts: string[]): UserPart[] {
  return asked.map(part => ('text' in part ? { text: [...texts, part.text].join('\n\n') } : part))
}

function named({ author, text }: Said, nameOf: TurnParts['nameOf']): string {
  return nameOf === null ? text : `${toLine(nameOf(author))}: ${text}`
}

const cutMark = '\n… (cut)'

/** The least of a material that is worth including. A guess. */
const leastTokens = 50

/** The material as it is given, cut to a number of tokens; null where too little would be left. */
function toExcerpt({ kind, name, n, text }: Material, tokens: number): Excerpt | null {
  const head = `<data kind="${kind}"${n === undefined ? '' : ` n="${n}"`} name="${toAttribute(name)}">`
  const wrap = (content: string) => ({ kind, n, content, text: `${head}\n${content}\n</data>` })
  const whole = wrap(text.replace(/<\/data/gi, '<\\/data'))
  if (countTokens(whole.text) <= tokens) return whole
  if (kind === 'passage' || tokens < leastTokens) return null
  const bytes = (tokens - countTokens(wrap(cutMark).text) - 1) * 3
  return bytes <= 0 ? null : wrap(cutBytes(whole.content, bytes) + cutMark)
}

/** A name in one line, without quotes, so that it gives no orders and ends no sentence. */
export function toLine(name: string): string {
  return name
    .replace(/["'“”„«»`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, nameLimit)
    .toWellFormed()
}

function toAttribute(name: string): string {
  return toLine(name).replace(/[<>&]/g, '')
}
