import type { Content } from '@parley/client'

/** The preview of a link. */
export function Embed({ embed }: { embed: Content['embed'] }) {
  if (embed?.url === undefined || embed.title === undefined) return null
  return (
    <a className="pl-embed" href={embed.url} target="_blank" rel="noreferrer">
      {embed.thumbnail_url !== undefined && <img src={embed.thumbnail_url} alt="" loading="lazy" />}
      <span>
        {embed.provider_name !== undefined && <span className="pl-muted">{embed.provider_name}</span>}
        <strong>{embed.title}</strong>
        {embed.description !== undefined && <span className="pl-muted">{embed.description}</span>}
      </span>
    </a>
  )
}
