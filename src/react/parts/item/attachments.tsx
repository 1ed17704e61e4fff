import type { CSSProperties } from 'react'
import type { StoredFile } from '@parley/client'
import { useLocale, useTexts } from '../base/texts.tsx'

/** Pictures as pictures, other files as links. */
export function Attachments({ files }: { files: readonly Omit<StoredFile, 'app'>[] | undefined }) {
  const texts = useTexts()
  if (files === undefined || files.length === 0) return null
  return (
    <ul className="pl-attachments" aria-label={texts.attachments}>
      {files.map(file => (
        <li key={file.id}>
          <Attachment file={file} />
        </li>
      ))}
    </ul>
  )
}

function Attachment({ file }: { file: Omit<StoredFile, 'app'> }) {
  const locale = useLocale()
  const { name, kind, width = 384, height = 256, size } = file
  const picture = kind === 'image' ? (file.preview_url ?? file.thumbnail_url) : undefined
  const target = file.download_url ?? file.external_url
  const link = { href: target, target: '_blank', rel: 'noreferrer' }
  if (picture !== undefined)
    return (
      <a className="pl-picture" {...link}>
        <img
          src={picture}
          alt={name}
          width={width}
          height={height}
          style={{ '--pl-width': width, '--pl-height': height } as CSSProperties}
          loading="lazy"
        />
      </a>
    )
  return (
    <a className="pl-file" data-kind={kind} {...link}>
      <span className="pl-file-name">{name}</span>
      <span className="pl-muted">{toSize(size, locale)}</span>
    </a>
  )
}

export function toSize(bytes: number, locale: string | undefined): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const options = {
    style: 'unit',
    unit: units[step]!,
    unitDisplay: 'short',
    maximumFractionDigits: step > 1 ? 1 : 0,
  } as const
  return new Intl.NumberFormat(locale, options).format(bytes / 1000 ** step)
}
