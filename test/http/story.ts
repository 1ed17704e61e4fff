import type { Body } from '../support/client.ts'

export interface Call {
  /** Default: what the path needs, as far as the story has named it. */
  names?: Record<string, string>
  query?: string
  body?: unknown
  /** Sends it again until the answer is such. */
  until?: (body: Body) => boolean
  /** A bearer token, a name of a person, or the key; default: Ann where people may call, otherwise the key. */
  as?: 'ann' | 'ben' | 'key' | 'session' | { token: string }
}

/** Sends a request to an operation of the description, such as `GET /api/apps/{app}`, and resolves with the body. */
export type Say = (operation: string, call?: Call) => Promise<Body>

/** Servers outside that the story needs. */
export interface Outside {
  receiver: string
  site: string
  tools: string
  hostToken: string
  /** Opens a realtime connection. */
  connect: (token: string) => Promise<unknown>
  /** Lets a user allow a client to act in its name. */
  allow: () => Promise<unknown>
}

/** A story in which each operation of the API is called once. */
export async function tell(say: Say, outside: Outside): Promise<void> {
  await people(say)
  await places(say)
  await talk(say, outside)
  await feed(say)
  const file = await files(say)
  await know(say, file)
  await agents(say, outside)
  await webhooks(say, outside)
  await operate(say, outside)
  await end(say, file)
}

const isNotEmpty = ({ count }: Body) => count !== '0'

async function people(say: Say): Promise<void> {
  await say('POST /api/users', { body: { uid: 'kim', name: 'Kim Roy', email: 'kim@acme.example' } })
  await say('PUT /api/users/{user}', {
    names: { user: 'lea' },
    body: { name: 'Lea Sol', username: 'lea', password: 'correct horse' },
  })
  await say('PATCH /api/users/{user}', {
    names: { user: 'kim' },
    body: { phone_number: '+46 70 1234567', tags: ['gardener'] },
  })
  await say('GET /api/users', { query: 'q=kim', as: 'key' })
  await say('GET /api/users/{user}', { names: { user: 'kim' }, as: 'key' })
  await say('GET /api/user')
  await say('POST /api/users/{user}/follow', { names: { user: 'ben' } })
  await say('GET /api/users/{user}/following', { names: { user: 'ann' } })
  await say('GET /api/users/{user}/followers', { names: { user: 'ben' } })
  await say('POST /api/users/{user}/unfollow', { names: { user: 'ben' } })
  await say('POST /api/users/{user}/tokens', { names: { user: 'kim' }, body: { expires_in: 3600 } })
  await say('DELETE /api/users/{user}/tokens', { names: { user: 'kim' } })
  await say('POST /api/auth', { body: { username: 'lea', password: 'correct horse' } })
  await say('POST /api/directories', { body: { name: 'acme' } })
  await say('PUT /api/directories/{dir}/members/{user}', { names: { dir: 'acme', user: 'ben' } })
  await say('PUT /api/directories/{dir}/members', { names: { dir: 'acme' }, body: ['ann', 'kim', 'lea'] })
  await say('GET /api/directories/{dir}/members', { names: { dir: 'acme' }, as: 'key' })
  await say('GET /api/directories', { as: 'key' })
  await say('GET /api/directories/{dir}', { names: { dir: 'acme' }, as: 'key' })
}

async function places(say: Say): Promise<void> {
  const names = { app: 'garden' }
  await say('POST /api/apps', { body: { type: 'posts', uid: 'news', name: 'News', members: ['ben'] } })
  await say('PUT /api/apps/{app}', { names, body: { type: 'chat', name: 'Garden', members: ['ben'] } })
  await say('PATCH /api/apps/{app}', { names, body: { description: 'All about the garden', access: 'read' } })
  await say('GET /api/apps', { query: 'type=chat' })
  await say('GET /api/apps/{app}', { names })
  await say('PUT /api/apps/{app}/members/{user}', { names: { ...names, user: 'kim' }, body: { access: 'write' } })
  await say('PUT /api/apps/{app}/members', { names, body: [{ user: 'lea', access: 'read' }] })
  await say('GET /api/apps/{app}/members', { names, query: 'member=true' })
  await say('DELETE /api/apps/{app}/members/{user}', { names: { ...names, user: 'lea' } })
  await say('DELETE /api/apps/{app}/members', { names, body: ['kim'] })
  for (const what of ['pin', 'archive']) {
    await say(`PUT /api/apps/{app}/${what}`, { names })
    await say(`DELETE /api/apps/{app}/${what}`, { names })
  }
  await say('POST /api/apps/{app}/subscribe', { names })
  await say('POST /api/apps/{app}/unsubscribe', { names })
  await say('POST /api/apps/{app}/stars', { names })
  await say('DELETE /api/apps/{app}/stars', { names })
  await say('PUT /api/apps/{app}/typing', { names })
}

async function talk(say: Say, { site }: Outside): Promise<void> {
  const names = { app: 'garden' }
  const text = 'The **tomatoes** are ripe, [Ben Ito](@ben)!'
  const poll = { text, options: [{ text: 'Friday' }, { text: 'Saturday' }] }
  const message = await say('POST /api/apps/{app}/messages', { names, body: poll })
  const at = { id: message.id as string }
  await say('GET /api/apps/{app}/messages', { names, query: 'order_by=id+desc&take=10' })
  await say('GET /api/messages', { query: 'q=tomatoes' })
  await say('GET /api/search', { query: 'q=tomatoes&in=messages' })
  await say('GET /api/messages/{id}', { names: at })
  await say('PATCH /api/messages/{id}', {
    names: at,
    body: { text: 'The **tomatoes** and beans are ripe, [Ben Ito](@ben)!' },
  })
  await say('GET /api/messages/{id}/options', { names: at })
  await say('POST /api/options/{id}/vote', { names: { id: message.options.data[0].id } })
  await say('GET /api/options/{id}', { names: { id: message.options.data[0].id } })
  await aroundItem(say, 'messages', at)
  await say('PUT /api/apps/{app}/mark', { names, query: `message_id=${at.id}`, as: 'ben' })
  await say('DELETE /api/apps/{app}/mark', { names, as: 'ben' })
  await say('GET /api/embeds', { query: `url=${encodeURIComponent(site)}` })
  const embed = await say('POST /api/embeds', {
    body: { type: 'link', title: 'Order 17', url: 'https://shop.example/orders/17' },
  })
  await say('GET /api/embeds/{id}', { names: { id: embed.id } })
  await say('POST /api/meetings', { body: { join_url: 'https://zoom.us/j/123456789' } })
  const pair = await say('POST /api/apps', { body: { type: 'private_chat', members: ['ben'] } })
  await say('POST /api/apps/{app}/remove', { names: { app: pair.id } })
}

/** What can be done with a message, a post and a comment. */
async function aroundItem(say: Say, kind: string, names: { id: string }): Promise<void> {
  await say(`POST /api/${kind}/{id}/reactions`, { names, body: { content: '👍' }, as: 'ben' })
  await say(`GET /api/${kind}/{id}/reactions`, { names })
  await say(`DELETE /api/${kind}/{id}/reactions`, { names, as: 'ben' })
  await say(`POST /api/${kind}/{id}/stars`, { names })
  if (kind === 'messages') await say('GET /api/stars')
  await say(`DELETE /api/${kind}/{id}/stars`, { names })
  await say(`GET /api/${kind}/{id}/attachments`, { names })
  await say(`POST /api/${kind}/{id}/trash`, { names })
  await say(`POST /api/${kind}/{id}/restore`, { names })
}

async function feed(say: Say): Promise<void> {
  const names = { app: 'news' }
  const poll = { text: 'What shall we plant?', options: [{ text: 'Roses' }, { text: 'Beans' }] }
  const post = await say('POST /api/apps/{app}/posts', { names, body: poll })
  const at = { id: post.id as string }
  await say('GET /api/apps/{app}/posts', { names, query: 'out=details' })
  await say('GET /api/posts')
  await say('GET /api/posts/{id}', { names: at })
  await say('PATCH /api/posts/{id}', { names: at, body: { tags: ['spring'] } })
  await say('GET /api/posts/{id}/options', { names: at })
  await say('POST /api/posts/{id}/subscribe', { names: at })
  await say('POST /api/posts/{id}/unsubscribe', { names: at })
  await aroundItem(say, 'posts', at)
  await say('POST /api/posts/{id}/comments', { names: at, body: { text: 'Beans, please' }, as: 'ben' })
  await say('GET /api/posts/{id}/comments', { names: at })
  await say('POST /api/apps', { body: { type: 'comments', uid: 'page-4', name: 'Page 4', members: ['ben'] } })
  const comment = await say('POST /api/apps/{app}/comments', {
    names: { app: 'page-4' },
    body: { text: 'Well said', options: [{ text: 'Yes' }] },
  })
  const on = { id: comment.id as string }
  await say('GET /api/apps/{app}/comments', { names: { app: 'page-4' } })
  await say('GET /api/comments')
  await say('GET /api/comments/{id}', { names: on })
  await say('PATCH /api/comments/{id}', { names: on, body: { text: 'Well said!' } })
  await say('GET /api/comments/{id}/options', { names: on })
  await aroundItem(say, 'comments', on)
  for (const [kind, id] of [
    ['comments', on],
    ['posts', at],
  ] as const)
    await say(`DELETE /api/${kind}/{id}`, { names: id })
}

/** Resolves with the id of a file with two versions. */
async function files(say: Say): Promise<string> {
  await say('POST /api/apps', { body: { type: 'files', uid: 'documents', name: 'Documents', members: ['ben'] } })
  const form = (text: string) => {
    const data = new FormData()
    data.append('blob', new Blob([text]), 'list.txt')
    return data
  }
  const blob = await say('POST /api/blobs', { body: form('tomatoes\n') })
  await say('GET /api/blobs/{id}', { names: { id: blob.id } })
  const link = 'https://files.example/plan.pdf'
  await say('POST /api/blobs/external', { body: { provider: 'Box', link, name: 'plan.pdf', size: 51_200 } })
  const names = { app: 'documents' }
  const file = await say('POST /api/apps/{app}/files', { names, body: { blob_id: blob.id } })
  const at = { id: file.id as string }
  const next = await say('POST /api/blobs', { body: form('tomatoes\nbeans\n') })
  await say('PATCH /api/files/{id}', { names: at, body: { blob_id: next.id, backup: true } })
  await say('GET /api/apps/{app}/files', { names })
  await say('GET /api/files')
  await say('GET /api/files/{id}', { names: at })
  const { data: versions } = await say('GET /api/files/{id}/versions', { names: at })
  const old = { ...at, rev: versions.at(-1).rev as string }
  await say('GET /api/files/{id}/versions/{rev}', { names: old })
  await say('POST /api/files/{id}/versions/{rev}/restore', { names: old })
  const { data: kept } = await say('GET /api/files/{id}/versions', { names: at })
  await say('DELETE /api/files/{id}/versions/{rev}', { names: { ...at, rev: kept.at(-1).rev } })
  for (const what of ['subscribe', 'unsubscribe', 'trash', 'restore', 'stars'])
    await say(`POST /api/files/{id}/${what}`, { names: at })
  await say('DELETE /api/files/{id}/stars', { names: at })
  await say('POST /api/files/{id}/comments', { names: at, body: { text: 'With beans now' }, as: 'ben' })
  await say('GET /api/files/{id}/comments', { names: at })
  return at.id
}

async function know(say: Say, file: string): Promise<void> {
  const text = 'Your order has been sent'
  await say('POST /api/notifications', { body: { user: 'ann', text, link: { type: 'file', id: file } } })
  const { data } = await say('GET /api/notifications', { query: 'unread=true', until: isNotEmpty })
  const names = { id: data[0].id as string }
  await say('GET /api/notifications/{id}', { names })
  await say('PUT /api/notifications/{id}/mark', { names })
  await say('DELETE /api/notifications/{id}/mark', { names })
  await say('GET /api/apps/{app}/notifications', { names: { app: 'documents' } })
  await say('PUT /api/apps/{app}/notifications/mark', { names: { app: 'documents' } })
  await say('PUT /api/directories/{dir}/notifications/mark', { names: { dir: 'acme' } })
  await say('PUT /api/notifications/mark')
  await say('DELETE /api/notifications/{id}', { names })
}

async function agents(say: Say, { tools }: Outside): Promise<void> {
  const desk = { name: 'Front desk', provider: 'builtin', model: 'script' }
  await say('POST /api/agents', {
    body: { uid: 'desk', ...desk, instructions: 'Book rooms.', knowledge: ['documents'] },
  })
  await say('POST /api/agents', { body: { uid: 'echo', name: 'Echo', provider: 'builtin', model: 'echo' } })
  const guide = { name: 'Guide', provider: 'anthropic', model: 'claude-sonnet-5' }
  await say('PUT /api/agents/{agent}', { names: { agent: 'guide' }, body: guide })
  await say('PATCH /api/agents/{agent}', { names: { agent: 'echo' }, body: { comment: 'Says it again' } })
  await say('GET /api/agents')
  await say('GET /api/agents/{agent}', { names: { agent: 'desk' } })
  const names = { agent: 'desk', name: 'weather' }
  const call = { description: 'The weather of a city', url: 'https://weather.example/{city}' }
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  await say('POST /api/agents/{agent}/functions', { names, body: { name: 'weather', ...call, parameters } })
  await say('GET /api/agents/{agent}/functions', { names })
  await say('GET /api/agents/{agent}/functions/{name}', { names })
  await say('PATCH /api/agents/{agent}/functions/{name}', { names, body: { description: 'The weather of tomorrow' } })
  await say('PUT /api/agents/{agent}/functions/{name}', { names, body: { name: 'weather', ...call, parameters } })
  await say('DELETE /api/agents/{agent}/functions/{name}', { names })
  const server = { agent: 'desk', name: 'crm' }
  await say('POST /api/agents/{agent}/mcp', {
    names: server,
    body: { name: 'crm', url: tools, approval_mode: 'always' },
  })
  await say('GET /api/agents/{agent}/mcp', { names: server })
  await say('GET /api/agents/{agent}/mcp/{name}', { names: server })
  await say('GET /api/agents/{agent}/mcp/{name}/tools', { names: server })
  await say('PATCH /api/agents/{agent}/mcp/{name}', { names: server, body: { description: 'Orders' } })
  await say('PUT /api/agents/{agent}/mcp/{name}', {
    names: server,
    body: { name: 'crm', url: tools, approval_mode: 'always' },
  })
  await say('POST /api/agents/{agent}/test', { names: { agent: 'echo' }, body: { text: 'Hello' } })
  await say('GET /api/agents/{agent}/knowledge', { names: server })
  await runs(say)
  await say('DELETE /api/agents/{agent}/mcp/{name}', { names: server })
  for (const what of ['trash', 'restore']) await say(`POST /api/agents/{agent}/${what}`, { names: { agent: 'echo' } })
  await say('DELETE /api/agents/{agent}', { names: { agent: 'echo' } })
}

async function runs(say: Say): Promise<void> {
  const chat = await say('POST /api/apps', { body: { type: 'agent_chat', members: ['desk'] } })
  const ask = () =>
    say('POST /api/apps/{app}/messages', {
      names: { app: chat.id },
      body: { text: 'say I would like to.\ncall crm__cancel_order {"id":"17"}' },
    })
  const asked = () => say('GET /api/approvals', { until: isNotEmpty })
  await ask()
  const [approval] = (await asked()).data
  await say('GET /api/apps/{app}/runs', { names: { app: chat.id } })
  await say('GET /api/approvals/{id}', { names: { id: approval.id } })
  await say('POST /api/approvals/{id}', { names: { id: approval.id }, body: { approved: false, note: 'Not this one' } })
  await ask()
  await asked()
  const { data } = await say('GET /api/agents/{agent}/runs', { names: { agent: 'desk' } })
  const names = { id: data.find(({ state }: Body) => state === 'waiting').id as string }
  await say('POST /api/runs/{id}/cancel', { names })
  await say('POST /api/runs/{id}/retry', { names })
  await say('GET /api/runs/{id}', { names, until: ({ state }) => state === 'waiting' })
  await say('GET /api/runs')
  await say('GET /api/agent-usage', { as: 'key' })
  await say('GET /api/agent-providers')
}

async function webhooks(say: Say, { receiver }: Outside): Promise<void> {
  const settings = { payload_url: receiver, triggers: ['messages'], secret: 'a long random text' }
  const { id } = await say('POST /api/webhooks', { body: settings })
  const names = { id: id as string }
  await say('GET /api/webhooks')
  await say('GET /api/webhooks/{id}', { names })
  await say('PATCH /api/webhooks/{id}', { names, body: { triggers: ['messages', 'posts'] } })
  await say('POST /api/webhooks/{id}/test', { names })
  await say('POST /api/apps/{app}/messages', { names: { app: 'garden' }, body: { text: 'Somebody hears this' } })
  const isCreated = ({ action }: Body) => action === 'message_created'
  const { data } = await say('GET /api/webhooks/{id}/deliveries', { names, until: list => list.data?.some(isCreated) })
  const of = { ...names, delivery: data.find(isCreated).id as string }
  await say('GET /api/webhooks/{id}/deliveries/{delivery}', { names: of })
  await say('POST /api/webhooks/{id}/deliveries/{delivery}/redeliver', { names: of })
  await say('POST /api/webhooks/{id}/redeliver', { names, body: { status: 'failure' } })
  await say('GET /api/deliveries')
  await say('POST /api/webhooks/{id}/rotate', { names })
  await say('DELETE /api/webhooks/{id}', { names })
}

async function operate(say: Say, { hostToken, connect, allow }: Outside): Promise<void> {
  const { access_token } = await say('POST /api/users/{user}/tokens', { names: { user: 'ann' } })
  await connect(access_token)
  await say('POST /api/auth/exchange', { as: { token: hostToken } })
  await say('POST /hubs/rtm/negotiate')
  const key = await say('POST /api/keys', { body: { name: 'CRM' } })
  const names = { id: key.id as string }
  await say('GET /api/keys')
  await say('GET /api/keys/{id}', { names })
  await say('PATCH /api/keys/{id}', { names, body: { name: 'CRM of Acme' } })
  await say('DELETE /api/keys/{id}', { names })
  await say('GET /api/audit', { query: 'take=3' })
  const signIn = () => say('POST /admin/session', { body: { api_key: 'wys_a-key-for-tests-that-is-long-enough' } })
  await signIn()
  await say('GET /admin/session')
  const { data: open } = await say('GET /api/admin/sign-ins')
  for (const what of ['nodes', 'settings', 'jobs', 'storage']) await say(`GET /api/admin/${what}`)
  const sessions = await say('GET /api/admin/sessions', { until: isNotEmpty })
  await say('DELETE /api/admin/sessions/{id}', { names: { id: sessions.data[0].id } })
  await say('GET /api/admin/series', { query: 'name=sessions' })
  await allow()
  const { data: grants } = await say('GET /api/admin/grants')
  await say('DELETE /api/admin/grants/{id}', { names: { id: grants[0].id } })
  await say('DELETE /api/admin/sign-ins/{id}', { names: { id: open[0].id as string } })
  await signIn()
  await say('DELETE /admin/session')
  await say('GET /.well-known/oauth-protected-resource')
  await say('GET /.well-known/oauth-protected-resource/mcp')
  for (const what of ['version', 'status', 'ready', 'live']) await say(`GET /${what}`)
}

async function end(say: Say, file: string): Promise<void> {
  await say('DELETE /api/files/{id}', { names: { id: file } })
  const message = await say('POST /api/apps/{app}/messages', { names: { app: 'garden' }, body: { text: 'Goodbye' } })
  await say('DELETE /api/messages/{id}', { names: { id: message.id } })
  for (const what of ['trash', 'restore']) await say(`POST /api/apps/{app}/${what}`, { names: { app: 'garden' } })
  await say('DELETE /api/apps/{app}', { names: { app: 'garden' } })
  for (const what of ['trash', 'restore']) await say(`POST /api/users/{user}/${what}`, { names: { user: 'kim' } })
  await say('DELETE /api/users/{user}', { names: { user: 'kim' } })
  await say('DELETE /api/directories/{dir}/members/{user}', { names: { dir: 'acme', user: 'ben' } })
  await say('DELETE /api/directories/{dir}/members', { names: { dir: 'acme' }, body: ['lea'] })
  await say('PATCH /api/directories/{dir}', { names: { dir: 'acme' }, body: { name: 'acme-inc' } })
  await say('DELETE /api/directories/{dir}', { names: { dir: 'acme-inc' } })
}
