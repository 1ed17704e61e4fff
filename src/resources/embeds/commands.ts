import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import type { Preview } from './unfurl/preview.ts'
import type { EmbedRow, NewEmbed } from './schema.ts'
import { findRecent, insertEmbed, insertReader, takeTurn } from './store.ts'

/** How long an embed is reused for its URL, in hours. */
const validHours = 24

/** The time since when embeds are still valid. */
export function validSince(now: Date): Date {
  return new Date(now.getTime() - validHours * 3_600_000)
}

/** Stores an embed that the caller describes. */
export const createEmbed = globalCommand(
  'createEmbed',
  ({ sql, by, now }: GlobalWork, { embed, image }: { embed: NewEmbed; image: number | null }): Promise<EmbedRow> =>
    insertEmbed(sql, {
      type: embed.type,
      title: embed.title ?? null,
      description: embed.description || null,
      image_id: image,
      url: embed.url ?? null,
      actions: embed.actions ?? [],
      metadata: embed.metadata ?? null,
      author_name: null,
      author_url: null,
      provider_name: null,
      provider_url: null,
      html: embed.html ?? null,
      width: embed.width ?? null,
      height: embed.height ?? null,
      source: null,
      created_at: now,
      created_by: by.user,
    }),
)

interface Found {
  /** The normalised URL. */
  source: string
  preview: Preview
  image: number | null
}

/** Stores the preview of a URL; where a concurrent request was faster, its embed counts. */
export const keepPreview = globalCommand(
  'keepPreview',
  async (
    { sql, by, now }: GlobalWork,
    { source, preview, image }: Found,
  ): Promise<{ row: EmbedRow; isNew: boolean }> => {
    await takeTurn(sql, source)
    const earlier = await findRecent(sql, source, validSince(now))
    if (earlier !== null) {
      await insertReader(sql, earlier.id, by.user)
      return { row: earlier, isNew: false }
    }
    const { image: _, ...found } = preview
    const rest = { actions: [], metadata: null, source, url: source, created_at: now, created_by: by.user }
    return { row: await insertEmbed(sql, { ...found, ...rest, image_id: image }), isNew: true }
  },
)
