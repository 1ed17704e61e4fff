import { Comments } from '@parley/react'

/** What was said about a document, beside it. */
export function CommentsPanel({ file, name }: { file: number; name: string }) {
  return (
    <aside className="panel" aria-label={`Comments on ${name}`}>
      <h2>{name}</h2>
      <Comments app="demo-files" parent={{ type: 'file', id: file }} />
    </aside>
  )
}
