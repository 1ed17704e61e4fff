import { useEffect, useState } from 'react'
import type { File } from '@parley/client'

/** A file, as far as browsers can show it. */
export function Preview({ file }: { file: File }) {
  const { name, kind, width, height, preview_format: format, preview_url, download_url } = file
  const url = preview_url ?? download_url
  if (kind === 'image') return <img src={url} alt={name} width={width} height={height} />
  if (url !== undefined && ['html', 'code', 'text'].includes(format))
    return <Text url={url} isHtml={format !== 'text'} />
  return <iframe src={url} title={name} />
}

/** The server makes the HTML of Markdown and code, and it is safe. */
function Text({ url, isHtml }: { url: string; isHtml: boolean }) {
  const [text, set] = useState('')
  useEffect(() => {
    const abort = new AbortController()
    fetch(url, { signal: abort.signal })
      .then(async response => set(response.ok ? await response.text() : 'This file cannot be shown.'))
      .catch(() => {})
    return () => abort.abort()
  }, [url])
  if (isHtml) return <div className="paper pl-text" dangerouslySetInnerHTML={{ __html: text }} />
  return <pre className="paper">{text}</pre>
}
