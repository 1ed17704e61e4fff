import type { KeyboardEvent } from 'react'
import { typeOver } from './typed.ts'

const marks: Readonly<Record<string, string>> = { b: '**', i: '_', e: '`' }

/**
 * Ctrl or Cmd with B, I or E puts the Markdown for bold, italic or code around what is selected, or takes it away; with K
 * it makes a link of it. True where that is what the key meant.
 */
export function takeMarkdownKey(event: KeyboardEvent<HTMLTextAreaElement>): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey, currentTarget: field } = event
  if (ctrlKey === metaKey || altKey || shiftKey) return false
  const key = event.key.toLowerCase()
  const { value, selectionStart: start, selectionEnd: end } = field
  const mark = marks[key]
  // Without a selection, K is left to the page: many open their search with it.
  if (mark === undefined && (key !== 'k' || start === end)) return false
  event.preventDefault()
  if (mark === undefined) link(field, value.slice(start, end), start, end)
  else toggle(field, mark, start, end)
  return true
}

function toggle(field: HTMLTextAreaElement, mark: string, start: number, end: number): void {
  const { value } = field
  const text = value.slice(start, end)
  const { length } = mark
  const isMarked = value.slice(0, start).endsWith(mark) && value.startsWith(mark, end)
  if (isMarked) typeOver(field, start - length, end + length, text)
  else typeOver(field, start, end, mark + text + mark)
  const from = isMarked ? start - length : start + length
  field.setSelectionRange(from, from + text.length)
}

/** An address becomes the target of a link whose text is to be typed; other text is linked to an address to be typed. */
function link(field: HTMLTextAreaElement, text: string, start: number, end: number): void {
  const isAddress = /^https?:\/\/\S+$/.test(text)
  typeOver(field, start, end, isAddress ? `[](${text})` : `[${text}](https://)`)
  if (isAddress) field.setSelectionRange(start + 1, start + 1)
  else field.setSelectionRange(start + text.length + 3, start + text.length + 11)
}
