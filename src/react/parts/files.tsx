import { useEffect, useState } from 'react'
import type { File as StoredFile, ParleyError } from '@parley/client'
import { useFiles, type AppRef } from '../hooks/items.ts'
import { ListState, LoadMore, StaleNote } from './base/state.tsx'
import { useLocale, useTexts } from './base/texts.tsx'
import { ShortTime } from './base/time.tsx'
import { useFileChooser } from './compose/file-chooser.tsx'
import { UploadList } from './compose/upload-list.tsx'
import { useUploads } from './compose/uploads.ts'
import { toSize } from './item/attachments.tsx'

export interface FilesProps {
  app: AppRef
  /** Opens a file; default: its content in another tab. */
  onOpen?: (file: StoredFile) => void
  selected?: number | undefined
}

/** The files of an app, newest first. Others are chosen or dropped. */
export function Files({ app, onOpen, selected }: FilesProps) {
  const texts = useTexts()
  const locale = useLocale()
  const list = useFiles(app)
  const uploads = useUploads()
  const chooser = useFileChooser(uploads)
  const [error, setError] = useState<ParleyError>()
  const { actions } = list
  useEffect(() => {
    for (const { key, blob } of uploads.list) {
      if (blob === undefined) continue
      uploads.remove(key)
      actions?.send({ blob_id: blob }).catch(setError)
    }
  }, [actions, uploads])
  return (
    <section
      className="pl-files"
      aria-label={texts.files}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        event.preventDefault()
        uploads.add(event.dataTransfer.files)
      }}
    >
      <StaleNote of={list} />
      <p className="pl-buttons">
        <button type="button" onClick={chooser.open}>
          {texts.upload}
        </button>
        {chooser.input}
      </p>
      <UploadList uploads={uploads} />
      {error !== undefined && <p role="alert">{error.message}</p>}
      <ul data-previous={list.isPrevious || undefined}>
        {list.data.toReversed().map(file => (
          <li key={file.key} data-kind={file.kind} data-state={file.state}>
            <a
              href={file.download_url ?? file.external_url}
              target="_blank"
              rel="noreferrer"
              aria-current={(file.id !== undefined && file.id === selected) || undefined}
              onClick={event => {
                if (onOpen === undefined) return
                event.preventDefault()
                onOpen(file)
              }}
            >
              {file.thumbnail_url === undefined ? (
                <span className="pl-thumbnail" aria-hidden="true">
                  {file.name?.split('.').at(-1)}
                </span>
              ) : (
                <img className="pl-thumbnail" src={file.thumbnail_url} alt="" loading="lazy" />
              )}
              <span className="pl-file-name">{file.name}</span>
              <span className="pl-muted">
                {file.size !== undefined && toSize(file.size, locale)} <ShortTime time={file.created_at} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      <ListState of={list} isEmpty={list.data.length === 0} empty={texts.noFiles} />
      <LoadMore of={list} />
    </section>
  )
}
