import { memo } from 'react'

interface Written {
  /** Safe HTML, made by the server of the Markdown. */
  html?: string | undefined
  plain?: string | undefined
  text?: string | null | undefined
}

/** The text of an item: as the server has rendered it, or as it was typed while it is being sent. */
export const ItemText = memo(function ItemText({ html, plain, text }: Written) {
  if (html !== undefined) return <div className="pl-text" dangerouslySetInnerHTML={{ __html: html }} />
  const typed = (text ?? plain ?? '').replace(/\[([^\]]+)\]\(@[^)]+\)/g, '@$1')
  return typed === '' ? null : <div className="pl-text pl-text-typed">{typed}</div>
})
