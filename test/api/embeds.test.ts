import sharp from 'sharp'
import { expect, test } from 'vitest'
import { appOf, create } from '../support/content.ts'
import { answer, drip, flood, hang, startReceiver, type Behaviour } from '../support/receiver.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

/** A server that may look at pages on this machine, and somebody who asks it to. */
async function startReader(): Promise<Server & { ann: Person }> {
  const server = await startServer({ FETCH_ALLOW: '127.0.0.0/8' })
  return { ...server, ann: await server.person('Ann') }
}

const html = (head: string, type = 'text/html; charset=utf-8') => answer(200, page(head), { 'content-type': type })
const page = (head: string) =>
  `<!doctype html><html><head>${head}</head><body><meta name=description content=no></body>`

/** Two pixels. */
const png = await sharp({ create: { width: 2, height: 1, channels: 3, background: 'red' } })
  .png()
  .toBuffer()

const picture: Behaviour = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'image/png' }).end(png)

/** Looks at a page of a site that answers each path in its own way. */
async function look(who: Person, behaviours: Record<string, Behaviour>, path = '/') {
  await using site = await startReceiver((request, response) => {
    const behaviour = behaviours[request.path] ?? answer(404)
    behaviour(request, response)
  })
  const url = `http://127.0.0.1:${site.port}${path}`
  const reply = await who.get(`/api/embeds?url=${encodeURIComponent(url)}`)
  return { ...reply, url, origin: `http://127.0.0.1:${site.port}`, requests: site.requests }
}

test('a page speaks for itself by Open Graph, then by cards, then by what every page has', async () => {
  await using server = await startReader()
  const { ann } = server
  const all = `
    <title>Plain title</title><meta name="description" content="Plain description">
    <meta property="og:title" content="Graph &amp; title"><meta property="og:description" content="Graph
    description"><meta property="og:site_name" content="The Site"><meta name="twitter:title" content="Card title">`

  const graph = await look(ann, { '/': html(all) })
  const card = await look(ann, { '/': html('<title>Plain</title><meta name="twitter:title" content=" Card  title ">') })
  const plain = await look(ann, { '/': html('<TITLE>Plain\n title</TITLE><META NAME=Description CONTENT=Text>') })

  expect(graph.status).toBe(201)
  expect(graph.body).toMatchObject({
    type: 'link',
    url: graph.url,
    title: 'Graph & title',
    provider_name: 'The Site',
    provider_url: graph.origin,
  })
  expect(graph.body.description).toMatch(/^Graph\s+description$/)
  expect(graph.requests[0]!.headers['user-agent']).toMatch(/^ServiceBot\//)
  expect(card.body).toMatchObject({ title: 'Card title', provider_name: '127.0.0.1' })
  expect(plain.body).toMatchObject({ type: 'link', title: 'Plain title', description: 'Text' })
})

test('the picture of a page is kept with its embed, and so is a picture by itself', async () => {
  await using server = await startReader()
  const { ann } = server
  const shows = (url: string) => html(`<title>Page</title><meta property="og:image" content="${url}">`)

  const page = await look(ann, { '/': shows('pictures/1.png'), '/pictures/1.png': picture })
  const icon = await look(ann, { '/': html('<title>x</title><link rel="icon" href="/i.png">'), '/i.png': picture })
  const none = await look(ann, { '/': shows('/gone.png') })
  const fake = await look(ann, {
    '/': shows('/fake.png'),
    '/fake.png': answer(200, '<svg', { 'content-type': 'image/png' }),
  })
  const photo = await look(ann, { '/a%20b.png': picture }, '/a%20b.png')
  const noPhoto = await look(ann, { '/x.png': answer(200, 'x', { 'content-type': 'image/png' }) }, '/x.png')

  for (const { body } of [page, icon, photo]) {
    expect(body.image).toMatchObject({ width: '2', height: '1', media_type: 'image/png' })
    expect(body.thumbnail_url).toBe(body.image.thumbnail_url)
    expect((await fetch(body.thumbnail_url)).status).toBe(200)
  }
  expect(page.body).toMatchObject({ type: 'link', title: 'Page' })
  expect(photo.body).toMatchObject({ type: 'photo', title: 'a b.png', url: photo.url })
  for (const { status, body } of [none, fake]) {
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('image')
  }
  expect(noPhoto.status).toBe(404)
})

test('a page is read in the encoding that it is written in', async () => {
  await using server = await startReader()
  const { ann } = server
  const title = (bytes: Buffer) => Buffer.concat([Buffer.from('<title>'), bytes, Buffer.from('</title>')])
  const send =
    (body: Buffer, type = 'text/html'): Behaviour =>
    (_request, response) =>
      void response.writeHead(200, { 'content-type': type }).end(body)
  const japanese = Buffer.from([0x93, 0xfa, 0x96, 0x7b])

  const titles = []
  for (const behaviour of [
    send(title(japanese), 'text/html; charset=Shift_JIS'),
    send(Buffer.concat([Buffer.from('<meta charset="shift_jis">'), title(japanese)])),
    send(title(Buffer.from('日本'))),
    send(title(Buffer.from([0x63, 0x61, 0x66, 0xe9]))),
    send(Buffer.from('\uFEFF<title>日本</title>', 'utf16le')),
    send(title(Buffer.from('café')), 'text/html; charset=nonsense'),
  ]) {
    titles.push((await look(ann, { '/': behaviour })).body.title)
  }

  expect(titles).toEqual(['日本', '日本', '日本', 'café', '日本', 'café'])
})

test('a page may name who speaks for it, and a known player is shown in its frame', async () => {
  await using server = await startReader()
  const { ann } = server
  const frame =
    '<iframe width="560" height="315" src="https://www.youtube.com/embed/x?a=1&amp;b=2" onload="x()" allowfullscreen></iframe>'
  const speaks = (oembed: object) => ({
    '/': html('<title>Page</title><link rel="alternate" type="application/json+oembed" href="/oembed?x=1">'),
    '/oembed?x=1': answer(200, JSON.stringify(oembed), { 'content-type': 'application/json' }),
  })

  const player = await look(
    ann,
    speaks({
      type: 'video',
      title: 'A film',
      author_name: 'Kim',
      author_url: 'https://kim.example/',
      provider_name: 'Tube',
      html: frame,
    }),
  )
  const stranger = await look(
    ann,
    speaks({ type: 'video', title: 'B', html: frame.replace('www.youtube.com', 'evil.example') }),
  )
  const script = await look(ann, speaks({ type: 'rich', title: 'C', html: `${frame}<script>x()</script>` }))
  const photo = await look(ann, {
    ...speaks({ type: 'photo', title: 'D', url: '/d.png' }),
    '/oembed?x=1': (request, response) => {
      const url = `http://${request.headers.host}/d.png`
      answer(200, JSON.stringify({ type: 'photo', title: 'D', url }))(request, response)
    },
    '/d.png': picture,
  })
  const lost = await look(ann, speaks({ type: 'photo', title: 'E', url: 'http://127.0.0.1:1/lost.png' }))
  const broken = await look(ann, speaks([] as never))

  expect(player.body).toMatchObject({
    type: 'video',
    title: 'A film',
    author_name: 'Kim',
    author_url: 'https://kim.example/',
    provider_name: 'Tube',
    html: '<iframe width="560" height="315" src="https://www.youtube.com/embed/x?a=1&amp;b=2" allowfullscreen></iframe>',
    width: '560',
    height: '315',
  })
  expect(stranger.body).toMatchObject({ type: 'link', title: 'B' })
  expect(stranger.body).not.toHaveProperty('html')
  expect(script.body).toMatchObject({ type: 'link', title: 'C' })
  expect(photo.body).toMatchObject({ type: 'photo', title: 'D', image: { width: '2', height: '1' } })
  expect(lost.body).toMatchObject({ type: 'link', title: 'E', url: lost.url })
  expect(broken.body).toMatchObject({ type: 'link', title: 'Page' })
})

test('an address is looked at once a day, in whatever spelling and for whomever', async () => {
  await using server = await startReader()
  const { ann } = server
  const ben = await server.person('Ben')
  await using site = await startReceiver(html('<title>Once</title>'))
  const ask = (who: Person, url: string) => who.get(`/api/embeds?url=${encodeURIComponent(url)}`)

  const first = await ask(ann, `http://127.0.0.1:${site.port}`)
  const second = await ask(ben, `HTTP://127.1:${site.port}/#part`)
  const other = await ask(ben, `http://127.0.0.1:${site.port}/?other`)
  const read = await ben.get(`/api/embeds/${first.body.id}`)

  expect([first.status, second.status, other.status]).toEqual([201, 200, 201])
  expect(second.body).toEqual(first.body)
  expect(other.body.id).not.toBe(first.body.id)
  expect(site.requests).toHaveLength(2)
  expect(read.body).toEqual(first.body)
})

test('of many who ask at once for an address, one makes the embed', async () => {
  await using server = await startReader()
  await using site = await startReceiver(html('<title>Once</title>'))
  const people = await Promise.all(Array.from({ length: 5 }, () => server.person()))
  const url = encodeURIComponent(`http://127.0.0.1:${site.port}/`)

  const answers = await Promise.all(people.map(one => one.get(`/api/embeds?url=${url}`)))

  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  for (const one of people) expect((await one.get(`/api/embeds/${answers[0]!.body.id}`)).status).toBe(200)
})

test('where nothing is to be had, there is nothing to embed', async () => {
  await using server = await startReader()
  const { ann } = server
  const redirect = (to: string) => answer(302, '', { location: to })
  const loops = Object.fromEntries([1, 2, 3, 4].map(i => [`/${i}`, redirect(`/${i + 1}`)]))

  const outcomes = [
    await look(ann, { '/': answer(500, page('<title>Error</title>'), { 'content-type': 'text/html' }) }),
    await look(ann, { '/': answer(200, '{"title":"x"}', { 'content-type': 'application/json' }) }),
    await look(ann, { '/': html('') }),
    await look(ann, { '/': html('<meta property="og:image" content="/gone.png">') }),
    await look(ann, { '/': (_request, response) => void response.destroy() }),
    await look(ann, { ...loops, '/5': html('<title>Far</title>') }, '/1'),
    await look(ann, { '/': redirect('http://10.0.0.1/') }),
    await look(ann, { '/': redirect('file:///etc/passwd') }),
  ]
  const near = await look(ann, { ...loops, '/4': html('<title>Near</title>') }, '/1')

  expect(outcomes.map(({ status, body }) => [status, body.code])).toEqual(outcomes.map(() => [404, 'nothing-to-embed']))
  expect(near.body).toMatchObject({ title: 'Near', url: near.url })
})

test('a page that never ends costs no more than its first megabyte, and one that never comes five seconds', async () => {
  await using server = await startReader()
  const { ann } = server
  const endless: Behaviour = (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Long</title>')
    // What floods has sent its head already.
    flood(request, Object.assign(response, { writeHead: () => response }))
  }

  const startedAt = performance.now()
  const long = await look(ann, { '/': endless })
  const [silent, slow] = await Promise.all([look(ann, { '/': hang }), look(ann, { '/': drip })])

  expect(long.body).toMatchObject({ title: 'Long' })
  expect([silent.status, slow.status]).toEqual([404, 404])
  expect(performance.now() - startedAt).toBeLessThan(9_000)
})

test('only public addresses are looked at, and only web addresses', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using site = await startReceiver(html('<title>Secret</title>'))
  const ask = async (url: string) => (await ann.get(`/api/embeds?url=${encodeURIComponent(url)}`)).status

  const inside = [
    await ask(`http://127.0.0.1:${site.port}/`),
    await ask(`http://localhost:${site.port}/`),
    await ask(`http://[::1]:${site.port}/`),
    await ask(`http://2130706433:${site.port}/`),
    await ask('http://169.254.169.254/latest/meta-data'),
  ]
  const unreadable = [
    await ask('ftp://example.com/'),
    await ask('javascript:alert(1)'),
    await ask('no address'),
    await ask(`http://example.com/${'x'.repeat(2_048)}`),
  ]

  expect(inside).toEqual(inside.map(() => 404))
  expect(unreadable).toEqual(unreadable.map(() => 400))
  expect((await ann.get('/api/embeds')).status).toBe(422)
  expect(site.requests).toEqual([])
})

test('more than sixty pages a minute are too many for one user', async () => {
  await using server = await startReader()
  const { ann } = server
  await using site = await startReceiver(answer(404))
  const ask = (who: Person, i: number) => who.get(`/api/embeds?url=http://127.0.0.1:${site.port}/${i}`)

  // One more each second comes back: together, so that few do meanwhile.
  const answers = await Promise.all(Array.from({ length: 90 }, (_, i) => ask(ann, i)))
  const ofBen = await ask(await server.person('Ben'), 99)

  const looked = answers.filter(({ status }) => status === 404)
  const refused = answers.filter(({ status }) => status === 429)
  expect(looked.length).toBeGreaterThanOrEqual(60)
  expect(refused.length).toBe(90 - looked.length)
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(ofBen.status).toBe(404)
})

test('an embed that is described comes back as it was described', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const link = await ann.post('/api/embeds', {
    type: 'link',
    title: ' A link ',
    description: 'More about it',
    url: 'https://example.com/',
    actions: ['Open', 'Save'],
    metadata: { n: 1, none: null },
  })
  const video = await ann.post('/api/embeds', {
    type: 'video',
    html: ' <IFRAME src="https://player.example/1" style="x" onload=x frameborder=0></IFRAME>\n',
    width: 640,
    height: '360',
  })

  expect([link.status, video.status]).toEqual([201, 201])
  expect(link.body).toEqual({
    id: link.body.id,
    type: 'link',
    title: 'A link',
    description: 'More about it',
    url: 'https://example.com/',
    actions: ['Open', 'Save'],
    metadata: { n: 1, none: null },
  })
  expect(video.body).toMatchObject({
    type: 'video',
    html: '<iframe src="https://player.example/1" frameborder="0"></iframe>',
    width: '640',
    height: '360',
  })
  expect((await ann.get(`/api/embeds/${link.body.id}`)).body).toEqual(link.body)
})

test('the picture of a described embed is one that the caller uploads, names or sends along', async () => {
  await using server = await startReader()
  const { ann } = server
  const ben = await server.person('Ben')
  const blob = (await upload(ann, { name: 'p.png', content: png, type: 'image/png' })).body.id
  const describe = (who: Person, image: unknown) => who.post('/api/embeds', { type: 'link', title: 'x', image })
  await using site = await startReceiver(picture)

  const taken = [
    await describe(ann, Number(blob)),
    await describe(ann, `data:image/png;base64,${png.toString('base64')}`),
    await describe(ann, `http://127.0.0.1:${site.port}/p.png`),
  ]
  const refused = [
    await describe(ben, blob),
    await describe(ann, 999_999),
    await describe(ann, 'data:image/png;base64,eA=='),
    await describe(ann, 'p.png'),
  ]

  for (const { status, body } of taken) {
    expect(status).toBe(201)
    expect(body).toMatchObject({ image: { width: '2', height: '1' }, thumbnail_url: expect.any(String) })
  }
  for (const { status, body } of refused) expect([status, Object.keys(body.errors)]).toEqual([422, ['image']])
})

test('what cannot be an embed is refused', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const frame = '<iframe src="https://player.example/"></iframe>'
  const bodies = [
    {},
    { type: 'photo', url: 'https://example.com/' },
    { type: 'link' },
    { type: 'link', url: 'ftp://example.com/' },
    { type: 'link', title: 'x', html: frame },
    { type: 'link', title: 'x', width: 1 },
    { type: 'link', title: 'x', actions: ['1', '2', '3', '4', '5', '6'] },
    { type: 'link', title: 'x', actions: [' '] },
    { type: 'link', title: 'x', actions: ['x'.repeat(65)] },
    { type: 'rich' },
    { type: 'rich', html: frame, actions: ['x'] },
    { type: 'rich', html: frame, width: 0 },
    { type: 'rich', html: frame, width: 'wide' },
  ]

  for (const body of bodies) expect([body, (await ann.post('/api/embeds', body)).status]).toEqual([body, 422])
})

test('nothing but one frame with a secure address passes for one', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const frames = [
    '',
    '<p>text</p>',
    '<iframe></iframe>',
    '<iframe src="http://player.example/"></iframe>',
    '<iframe src="//player.example/"></iframe>',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<iframe src="data:text/html,x"></iframe>',
    '<iframe src="https://player.example/"></iframe><iframe src="https://player.example/"></iframe>',
    '<iframe src="https://player.example/"></iframe><script>x()</script>',
    '<iframe src="https://player.example/"></iframe><!-- x -->',
    '<div><iframe src="https://player.example/"></iframe></div>',
    '<iframe src="https://player.example/"></iframe></div>',
    'x<iframe src="https://player.example/"></iframe>',
    '<iframe src="https://player.example/"><p>x</p></iframe>',
    '<iframe src="https://player.example/">',
    '<svg><iframe src="https://player.example/"></iframe></svg>',
    '<iframe srcdoc="<script>x()</script>"></iframe>',
  ]

  for (const html of frames) {
    const { status, body } = await ann.post('/api/embeds', { type: 'rich', html })
    expect([html, status, Object.keys(body.errors ?? {})]).toEqual([html, 422, ['html']])
  }
  const { body } = await ann.post('/api/embeds', {
    type: 'rich',
    html: '<iframe src="https://player.example/?a=&quot;&gt;&lt;x" srcdoc="x" title="&lt;b&gt;&quot;" sandbox></iframe>',
  })
  expect(body.html).toBe('<iframe src="https://player.example/?a=%22%3E%3Cx" title="&lt;b&gt;&quot;"></iframe>')
})

test('an embed is seen by who made it and by who may read an item with it', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const app = await appOf(server, 'posts', [ann, ben])
  const embed = await create(ann, '/api/embeds', { type: 'link', title: 'A link' })
  const see = async (who: { get: Person['get'] }) => (await who.get(`/api/embeds/${embed.id}`)).status

  const before = [await see(ann), await see(ben), await see(server.admin)]
  const foreign = await ben.post(`/api/apps/${app}/posts`, { embed_id: embed.id })
  const post = await ann.post(`/api/apps/${app}/posts`, { embed_id: Number(embed.id) })
  const after = [await see(ben), await see(eve)]
  const shared = await ben.post(`/api/apps/${app}/posts`, { embed_id: embed.id })
  await ben.delete(`/api/posts/${shared.body.id}`)
  await ann.post(`/api/posts/${post.body.id}/trash`)

  expect(before).toEqual([200, 404, 200])
  expect([foreign.status, post.status, shared.status]).toEqual([422, 201, 201])
  expect(foreign.body.errors).toHaveProperty('embed_id')
  expect(post.body.embed).toEqual(embed)
  expect(after).toEqual([200, 404])
  expect(await see(ben)).toBe(404)
})

test('the picture of an embed is seen where the embed is, and neither where the item is hidden', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const app = await appOf(server, 'files', [ann, ben])
  const { body: image } = await upload(ann, { name: 'p.png', content: png, type: 'image/png' })
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'a' })
  const embed = await create(ann, '/api/embeds', { type: 'link', title: 'A link', image: image.id })
  const file = await create(ann, `/api/apps/${app}/files`, { blob_id: blob.id })
  const see = async (who: Person) => [
    (await who.get(`/api/embeds/${embed.id}`)).status,
    (await who.get(`/api/blobs/${image.id}`)).status,
  ]

  const before = await see(ben)
  await create(ann, `/api/files/${file.id}/comments`, { embed_id: embed.id })
  const after = [await see(ben), await see(eve)]
  await ann.post(`/api/files/${file.id}/trash`)

  expect(before).toEqual([404, 404])
  expect(after).toEqual([
    [200, 200],
    [404, 404],
  ])
  expect(await see(ben)).toEqual([404, 404])
})

test('an edit keeps, replaces or removes the embed of an item', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const [first, second] = [
    await create(ann, '/api/embeds', { type: 'link', title: 'First' }),
    await create(ann, '/api/embeds', { type: 'link', title: 'Second' }),
  ]
  const { id } = await create(ann, `/api/apps/${app}/messages`, { text: 'Look', embed_id: first.id })

  const kept = await ann.patch(`/api/messages/${id}`, { text: 'Look!' })
  const replaced = await ann.patch(`/api/messages/${id}`, { embed_id: second.id })
  const unknown = await ann.patch(`/api/messages/${id}`, { embed_id: 999_999 })
  const listed = await ben.get(`/api/apps/${app}/messages?out=details`)
  const removed = await ann.patch(`/api/messages/${id}`, { embed_id: null })

  expect(kept.body.embed).toEqual(first)
  expect(replaced.body.embed).toEqual(second)
  expect(unknown.status).toBe(422)
  expect(listed.body.data[0].embed).toEqual(second)
  expect(removed.body).not.toHaveProperty('embed')
})
