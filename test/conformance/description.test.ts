import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { createWorld, type World } from './world.ts'

let world: World
let description: Body
beforeAll(async () => {
  world = await createWorld()
  description = (await world.server.request('GET', '/api/openapi.json')).body
})
afterAll(() => world[Symbol.asyncDispose]())

const content =
  'id app parent text html plain embed meeting annotations attachments options reactions metadata tags is_starred ' +
  'is_subscribed is_trashed created_at created_by updated_at updated_by'
const contentSummary = 'id text html plain metadata tags is_starred is_subscribed is_trashed created_at updated_at'
const app =
  'id rev type uid name description archive_url avatar_url metadata tags access directory_id created_at updated_at ' +
  'is_pinned is_starred is_subscribed is_trashed is_unread permissions'
const user =
  'id uid name given_name middle_name family_name nickname email phone_number username avatar_url directories presence ' +
  'comment metadata tags created_at updated_at is_followed is_trashed'
const agent =
  'id uid name provider model instructions functions knowledge web_search max_tokens avatar_url directories comment tags ' +
  'metadata created_at updated_at is_agent is_trashed'

/** The fields of the resources, as the API's specification lists them. */
const resources = {
  Agent: `${agent} picture`,
  AgentSummary: agent,
  AgentFunction: 'name description method url headers parameters',
  App: `${app} picture last_message members`,
  AppSummary: app,
  Blob: 'id name media_type width height size thumbnail_url raw',
  Comment: content,
  CommentSummary: contentSummary,
  Directory: 'id name members',
  DirectoryRef: 'id name',
  Embed:
    'id type title description image url thumbnail_url actions metadata author_name author_url provider_name ' +
    'provider_url html width height',
  Meeting: 'id provider provider_id join_url code created_at metadata',
  Member: 'id uid name avatar_url access marked_at marked_id presence comment is_agent',
  Message: content,
  MessageSummary: contentSummary,
  Option: 'id text votes has_voted',
  OptionItem: 'id text has_voted',
  Post: `${content} comments`,
  PostSummary: contentSummary,
  ReactionSummary: 'content created_at',
  Star: 'id type',
  Token: 'access_token expires_in',
  ToolServer: 'name url description allowed_tools approval_mode headers',
  User: `${user} picture`,
  UserSummary: user.replace('is_followed ', ''),
}

test.each(Object.entries(resources))('%s is described with all its fields', (name, fields) => {
  const { properties } = description.components.schemas[name]

  expect(Object.keys(properties)).toEqual(expect.arrayContaining(fields.split(' ')))
})

test('what is part of something else is described no less', () => {
  const { App, File } = description.components.schemas

  expect(Object.keys(App.properties.last_message.properties)).toEqual(
    expect.arrayContaining(`${contentSummary} created_by`.split(' ')),
  )
  expect(File.properties.app).toEqual({ $ref: '#/components/schemas/AppSummary' })
  expect(File.required).toContain('app')
})

test('a whole item has all its lists, be they empty', () => {
  const { Message, Post, Comment } = description.components.schemas

  for (const { required } of [Message, Post, Comment]) {
    expect(required).toEqual(expect.arrayContaining(['annotations', 'attachments', 'options', 'reactions']))
  }
})

test('answers are described with their headers', () => {
  const { paths, components } = description
  const headersOf = (path: string, method: string, status: number) => {
    const response = paths[path][method].responses[status]
    const { headers = {} } = '$ref' in response ? components.responses[response.$ref.split('/').at(-1)] : response
    return Object.keys(headers)
  }

  expect(headersOf('/api/apps', 'get', 401)).toEqual(['WWW-Authenticate'])
  expect(headersOf('/api/apps', 'get', 200)).toEqual(['Preference-Applied'])
  expect(headersOf('/api/auth', 'post', 429)).toEqual(['Retry-After'])
  expect(headersOf('/api/auth', 'post', 404)).toEqual([])
  expect(headersOf('/content/files/{id}/{rev}', 'get', 200)).toEqual(['Accept-Ranges', 'Content-Disposition', 'ETag'])
  expect(headersOf('/content/files/{id}/{rev}', 'get', 206)).toContain('Content-Range')
  expect(headersOf('/content/files/{id}/{rev}', 'get', 416)).toEqual(['Content-Range'])
  expect(Object.keys(components.headers)).toContain('Preference-Applied')
})
