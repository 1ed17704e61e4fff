import type { Content } from '@parley/client'
import { useTexts } from '../base/texts.tsx'

/** The files that the answer of an agent cites, in the order of their numbers in the text. */
export function Sources({ files }: { files: NonNullable<Content['annotations']>['data'] }) {
  const texts = useTexts()
  if (files === undefined || files.length === 0) return null
  return (
    <ol className="pl-sources" aria-label={texts.sources}>
      {files.map(({ id, name, download_url }) => (
        <li key={id}>
          {/* Who may not open a file sees its name. */}
          {download_url === undefined ? (
            name
          ) : (
            <a href={download_url} target="_blank" rel="noreferrer">
              {name}
            </a>
          )}
        </li>
      ))}
    </ol>
  )
}
