import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { cutText } from '../result.ts'
import type { ToolResult } from '../tool.ts'

/** The most images of a result; others are only named. */
const imageLimit = 5
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The tool result of a call. */
export function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const blocks = content ?? []
  const images = blocks.flatMap(toImage).slice(0, imageLimit)
  const texts = blocks.map(toText).filter(text => text !== null)
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent))
  return {
    text: cutText(texts.join('\n\n')),
    isError: isError === true,
    ...(images.length > 0 && { images }),
  }
}

function toText(block: ContentBlock): string | null {
  if (block.type === 'text') return block.text
  if (block.type === 'image') return imageTypes.has(block.mimeType) ? null : '[image]'
  if (block.type === 'audio') return '[audio]'
  if (block.type === 'resource_link') return `${block.name}, ${block.uri}`
  if ('text' in block.resource) return block.resource.text
  return `[${Buffer.byteLength(block.resource.blob, 'base64')} bytes, ${block.resource.uri}]`
}

function toImage(block: ContentBlock): { image: Buffer; type: string }[] {
  if (block.type !== 'image' || !imageTypes.has(block.mimeType)) return []
  return [{ image: Buffer.from(block.data, 'base64'), type: block.mimeType }]
}
