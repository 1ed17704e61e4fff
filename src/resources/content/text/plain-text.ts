import type { Token } from 'markdown-it'
import { mentionOf } from './mention-syntax.ts'

/** Precedes the name of a mention until it is known whether that is effective. Texts contain no NUL. */
const mark = /\0(\d+)\0/g

/**
 * The text without formatting: a line for each line, item and row, cells separated by tabs. Names of mentions are
 * marked, for `settleMarks` to prefix with `@` or not.
 */
export function toMarkedText(tokens: Token[]): string {
  const lines: string[] = []
  let cells: string[] | null = null
  for (const token of tokens) {
    switch (token.type) {
      case 'tr_open':
        cells = []
        break
      case 'tr_close':
        lines.push(cells?.join('\t') ?? '')
        cells = null
        break
      case 'inline':
        ;(cells ?? lines).push(writeInline(token.children ?? []))
        break
      case 'fence':
      case 'code_block':
        lines.push(token.content.replace(/\n$/, ''))
        break
    }
  }
  return lines.join('\n')
}

/** The users whose names are marked, each once. */
export function listMarks(marked: string): number[] {
  return [...new Set(Array.from(marked.matchAll(mark), match => Number(match[1])))]
}

export function settleMarks(marked: string, isEffective: (user: number) => boolean): string {
  return marked.replace(mark, (_, user) => (isEffective(Number(user)) ? '@' : ''))
}

/** The text in place of an image: its alternative text, or its URL. */
export function labelOf(image: Token): string {
  return settleMarks(writeInline(image.children ?? []), () => false) || String(image.attrGet('src') ?? '')
}

function writeInline(tokens: Token[]): string {
  let text = ''
  for (const token of tokens) {
    switch (token.type) {
      case 'text':
      case 'code_inline':
        text += token.content
        break
      case 'softbreak':
      case 'hardbreak':
        text += '\n'
        break
      case 'image':
        text += labelOf(token)
        break
      case 'mention':
        text += writeMention(token)
        break
    }
  }
  return text
}

function writeMention(token: Token): string {
  const { label = '', user = null } = mentionOf(token) ?? {}
  return user === null ? label : `\0${user}\0${label}`
}
