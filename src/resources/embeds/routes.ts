import { reply, route } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { IdPath } from '../../lib/shape.ts'
import { findVisible } from './access.ts'
import { createEmbed, keepPreview, validSince } from './commands.ts'
import { showEmbed } from './represent.ts'
import { Embed, EmbedQuery, NewEmbed, NotAnAddress, NothingToEmbed } from './schema.ts'
import { findRecent, insertReader } from './store.ts'
import { normalise, unfurl } from './unfurl.ts'

const create = route({
  method: 'POST',
  path: '/api/embeds',
  summary: 'Describe an embed that items can carry',
  auth: 'token or key',
  body: NewEmbed,
  creates: true,
  replies: { 201: Embed },
  async handle({ body, by, direct, once }) {
    return reply(201, showEmbed(await direct.run(createEmbed, by, { embed: body, image: null }, once)))
  },
})

const get = route({
  method: 'GET',
  path: '/api/embeds/{id}',
  summary: 'Get an embed',
  auth: 'token or key',
  params: IdPath,
  replies: { 200: Embed },
  problems: [NotFound],
  async handle(request) {
    const { id } = request.params
    const embed = /^\d{1,15}$/.test(id) ? await findVisible(Number(id), request) : null
    if (embed === null) throw NotFound()
    return reply(200, showEmbed(embed))
  },
})

const embed = route({
  method: 'GET',
  path: '/api/embeds',
  summary: 'Get an embed of what is at an address: 200 where one was made within a day, 201 where it is made now',
  auth: 'token or key',
  query: EmbedQuery,
  replies: { 200: Embed, 201: Embed },
  problems: [NotAnAddress, NothingToEmbed],
  async handle({ query, by, sql, direct, errands, outside, now }) {
    const url = normalise(query.url)
    if (url === null) throw NotAnAddress()
    const source = url.href
    const known = await findRecent(sql, source, validSince(now()))
    if (known !== null) {
      if (known.created_by !== by.user) await insertReader(sql, known.id, by.user)
      return reply(200, showEmbed(known))
    }
    const preview = await errands.run(by.kind === 'user' ? String(by.user) : null, () => unfurl(url, outside))
    if (preview === null) throw NothingToEmbed()
    const { row, isNew } = await direct.run(keepPreview, by, { source, preview, image: null })
    return isNew ? reply(201, showEmbed(row)) : reply(200, showEmbed(row))
  },
})

export const routes = [embed, create, get]
