import type { Served } from '../route.ts'
import type { EmbedRow } from './schema.ts'
import { findEmbed, isInSight, isReader } from './store.ts'

type Caller = Served<'sql' | 'by' | 'userCache'>

/**
 * The embed, for a caller who made it, asked for its URL, or may read an item with it, and for API keys; null for
 * others.
 */
export async function findVisible(id: number, { sql, by, userCache }: Caller): Promise<EmbedRow | null> {
  const embed = await findEmbed(sql, id)
  if (embed === null || by.kind === 'key' || (await isReader(sql, embed, by.user))) return embed
  return (await isInSight(sql, embed.id, by.user, await userCache.directoriesOf(by.user))) ? embed : null
}
