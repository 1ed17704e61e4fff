import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'
import type { Uploads } from './uploads.ts'

/** Files that go with what is written, each with its progress and a button that removes it. */
export function UploadList({ uploads }: { uploads: Uploads }) {
  const texts = useTexts()
  if (uploads.list.length === 0) return null
  return (
    <ul className="pl-uploads" aria-label={texts.attachments}>
      {uploads.list.map(({ key, name, share, blob, error }) => (
        <li key={key} data-failed={error !== undefined || undefined}>
          <span className="pl-file-name">{name}</span>
          {blob === undefined && error === undefined && (
            <progress value={share} max={1} aria-label={texts.uploading(name)} />
          )}
          {error !== undefined && (
            <span role="alert">
              {texts.notUploaded(name)}: {error.message}
            </span>
          )}
          <button
            type="button"
            className="pl-icon-button"
            aria-label={texts.remove(name)}
            onClick={() => uploads.remove(key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  )
}
