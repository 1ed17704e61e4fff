import { part } from '../content/parts/part.ts'
import { referenceBy } from '../content/parts/reference.ts'
import { findVisible } from './access.ts'
import { embedWithoutWords, showEmbed } from './represent.ts'
import { Embed, UnknownEmbed, type EmbedRow } from './schema.ts'
import { claimEmbed, listEmbeds } from './store.ts'

/** The embed of an item. It is not deleted with the item, because other items may have it. */
export const embedPart = part<EmbedRow | null, undefined, { id: number; row: EmbedRow | null } | null>()({
  ...referenceBy('embed_id', {
    description: 'An embed that the caller made or may see',
    list: listEmbeds,
    async claim(id, author) {
      const embed = await findVisible(id, author)
      return embed !== null && (await claimEmbed(author.sql, id, author.now())) ? embed : null
    },
    Unknown: UnknownEmbed,
  }),
  shown: Embed.optional(),
  told: Embed.optional(),
  present: (embed, _item, { origin }) => showEmbed(embed!, origin),
  withoutWords: embed => embed && embedWithoutWords(embed),
})
