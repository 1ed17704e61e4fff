import { useState } from 'react'
import { Files, useFiles } from '@parley/react'
import { CommentsPanel } from './comments-panel.tsx'
import { Preview } from './preview.tsx'

/** The documents of the company: one is open, with what was said about it. */
export function Documents() {
  const [id, open] = useState<number>()
  const file = useFiles('demo-files', ({ data }) => data.find(one => one.id === id))
  return (
    <div className="documents" data-open={id !== undefined}>
      <div className="column">
        <h2>Documents</h2>
        <Files app="demo-files" selected={id} onOpen={({ id }) => open(id)} />
      </div>
      {file?.id !== undefined && (
        <section key={file.id} className="document" aria-label={file.name}>
          <p className="row">
            <button onClick={() => open(undefined)}>Close</button>
            <a href={file.download_url}>Download</a>
          </p>
          <Preview file={file} />
          <CommentsPanel file={file.id} name={file.name} />
        </section>
      )}
    </div>
  )
}
