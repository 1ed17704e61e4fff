import type { ContentItem } from '../../../items/parts.ts'
import { nameMentions } from '../../../content/text/render.ts'

/** An item as text for a model: its text, and a line for each attachment and other part. Empty for an empty item. */
export function toItemText({ text, parts }: ContentItem): string {
  const lines = text === null ? [] : [nameMentions(text).trim()]
  if (parts === undefined) return lines.join('\n')
  for (const { name, size } of parts.attachments) lines.push(`[file: ${inOneLine(name)}, ${toSize(size)}]`)
  if (parts.embed !== null) {
    const { title, url, source } = parts.embed
    lines.push(`[link: ${[title && inOneLine(title), url ?? source].filter(Boolean).join(', ')}]`)
  }
  if (parts.options.length > 0) lines.push(`[poll: ${parts.options.map(({ text }) => inOneLine(text)).join(' / ')}]`)
  if (parts.meeting !== null) lines.push(`[meeting: ${parts.meeting.join_url}]`)
  return lines.join('\n')
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 256).toWellFormed()
}

/** A size for people: 120 KB. */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const units = ['KB', 'MB', 'GB']
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  const value = bytes / 1000 ** power
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ${units[power - 1]}`
}
