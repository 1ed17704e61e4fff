import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { preparePicture } from '../blobs/pictures/picture.ts'
import { pictureBodyLimitBytes } from '../blobs/pictures/schema.ts'
import { findVisible } from './access.ts'
import { embedAddress } from './unfurl/address.ts'
import { createEmbed } from './commands.ts'
import { showEmbed } from './represent.ts'
import { Embed, EmbedQuery, NewEmbed, NotAnAddress, NothingToEmbed } from './schema.ts'
import { normalise } from './unfurl/unfurl.ts'

const create = route('POST /api/embeds', {
  summary: 'Describe an embed that items can carry',
  auth: 'token or key',
  body: NewEmbed,
  bodyLimitBytes: pictureBodyLimitBytes,
  creates: true,
  replies: { 201: Embed },
  async handle({ body, by, idempotencyKey, origin }, context) {
    const image = (await preparePicture(body.image, 'image', context)) ?? null
    const made = await context.globalCommands.run(createEmbed, by, { embed: body, image }, idempotencyKey)
    return reply(201, showEmbed(made, origin))
  },
})

const get = route('GET /api/embeds/{id}', {
  summary: 'Get an embed',
  auth: 'token or key',
  params: IdPath,
  replies: { 200: Embed },
  problems: [NotFound],
  async handle({ params, origin }, context) {
    const embed = requireFound(await findVisible(toId(params.id), context))
    return reply(200, showEmbed(embed, origin))
  },
})

const embed = route('GET /api/embeds', {
  summary: 'Get an embed of what is at an address: 200 where one was made within a day, 201 where it is made now',
  description:
    'Fetches the page and reads its title, description and picture. Addresses in private networks are refused.',
  auth: 'token or key',
  asksOthers: true,
  query: EmbedQuery,
  replies: { 200: Embed, 201: Embed },
  problems: [NotAnAddress, NothingToEmbed],
  async handle({ query, origin }, context) {
    const url = normalise(query.url)
    if (url === null) throw NotAnAddress()
    const { row, isNew } = await embedAddress(url, context)
    const shown = showEmbed(row, origin)
    return isNew ? reply(201, shown) : reply(200, shown)
  },
})

export const routes = [embed, create, get]
