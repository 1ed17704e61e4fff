import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { kitHeaders, kitOf, shapes, type Kit } from '../support/kit.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const filesType = '523edd88-4bbf-4547-b60f-2859a6d2ddc1'

describe('what the UI kit asks for about files', () => {
  let server: Server
  let ann: Person
  let here: Kit
  let there: Kit
  /** The folder of each test, in which both write. */
  let app: number
  let path: string
  beforeAll(async () => {
    server = await startServer()
  })
  beforeEach(async () => {
    ann = await server.person('Ann')
    ;[here, there] = [kitOf(ann), kitOf(await server.person('Ben'))]
    const uid = `files-${ann.id}`
    await here.put(`/api/apps/${uid}`, { type: filesType, name: 'Files' })
    app = (await there.put(`/api/apps/${uid}`, { type: filesType, name: 'Files' })).id
    path = `/api/apps/${app}/files`
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const names = async (query: string) => (await here.list(`${path}?skip=0&${query}`)).map(({ name }) => name)
  async function add(name: string, content: string) {
    const blob = await here.upload(name, content)
    return shapes.File.parse(await here.post(path, { blob_id: blob.id, replace: false }))
  }

  test('a file is added once by its name, and replaced when the user says so', async () => {
    const first = await add('plan.txt', 'one')
    const blob = await there.upload('plan.txt', 'number two')

    const conflict = await there.ask('POST', path, { blob_id: blob.id, replace: false })
    const replaced = await there.ask('POST', path, { blob_id: blob.id, replace: true })

    expect(conflict).toMatchObject({
      status: 409,
      body: { status: 409, title: 'Conflict', detail: expect.any(String) },
    })
    expect(replaced.status).toBe(200)
    expect(shapes.File.parse(replaced.body)).toMatchObject({ id: first.id, size: 10, updated_by: { name: 'Ben' } })
    expect(replaced.body.rev).toBeGreaterThan(first.rev)
    expect(await names('order_by=name')).toEqual(['plan.txt'])
  })

  test('versions are listed newest first, brought back and removed', async () => {
    const { id } = await add('plan.txt', 'one')
    const blob = await here.upload('plan.txt', 'two')
    await here.post(path, { blob_id: blob.id, replace: true })
    const versions = async () =>
      (await here.list(`/api/files/${id}/versions`)).map(version => shapes.File.parse(version))
    const [current, old] = await versions()

    expect(current!.id).toBe(id)
    expect(old).toMatchObject({ id, size: 3 })
    expect(new Set([current!.rev, old!.rev]).size).toBe(2)
    await here.post(`/api/files/${id}/versions/${old!.rev}/restore`)
    expect(await (await fetch((await versions())[0]!.download_url)).text()).toBe('one')
    expect(await versions()).toHaveLength(3)
    await here.remove(`/api/files/${id}/versions/${old!.rev}`)
    expect((await versions()).map(({ rev }) => rev)).not.toContain(old!.rev)
    expect((await here.ask('DELETE', `/api/files/${id}/versions/${(await versions())[0]!.rev}`)).body.status).toBe(400)
  })

  test('files are sorted as the header of their list says, without those that are attached to something', async () => {
    await add('b.txt', 'longest')
    await add('a.txt', 'long')
    const c = await add('c.txt', 'x')
    await here.patch(`/api/files/${c.id}`, { name: 'd.txt' })
    const { id: post } = await here.put(`/api/apps/posts-${app}`, { type: 'posts' })
    const attached = await here.upload('attached.txt', 'x')
    await here.post(`/api/apps/${post}/posts`, { text: 'See', blobs: [attached.id], options: [] })

    expect(await names('order_by=name')).toEqual(['a.txt', 'b.txt', 'd.txt'])
    expect(await names('order_by=name+desc')).toEqual(['d.txt', 'b.txt', 'a.txt'])
    expect(await names('order_by=size')).toEqual(['d.txt', 'a.txt', 'b.txt'])
    expect(await names('order_by=size+desc')).toEqual(['b.txt', 'a.txt', 'd.txt'])
    // Those never changed count from when they were added, all within a second here: the order is total all the same.
    expect((await names('order_by=updated_at+desc')).sort()).toEqual(['a.txt', 'b.txt', 'd.txt'])
  })

  test('a trashed file is shown where trashed ones are asked for, comes back, or goes for good', async () => {
    const kept = await add('kept.txt', 'x')
    const { id } = await add('gone.txt', 'x')

    await there.post(`/api/files/${id}/trash`)
    expect(await names('order_by=name')).toEqual(['kept.txt'])
    expect(await here.list(`${path}?skip=0&order_by=name&trashed=null`)).toMatchObject([
      { id, is_trashed: true },
      { id: kept.id, is_trashed: false },
    ])
    await there.post(`/api/files/${id}/restore`)
    expect(await names('order_by=name')).toEqual(['gone.txt', 'kept.txt'])
    await there.post(`/api/files/${id}/trash`)
    await add('gone.txt', 'y')
    expect((await there.ask('POST', `/api/files/${id}/restore`)).body.status).toBe(409)
    await there.remove(`/api/files/${id}`)
    expect(await names('order_by=name&trashed=null')).toEqual(['gone.txt', 'kept.txt'])
  })

  test('folders and files are subscribed to and no longer', async () => {
    const { id } = await add('a.txt', 'x')
    const flags = async () => [
      (await there.get(`/api/apps/${app}`)).is_subscribed,
      (await there.list(`${path}?skip=0&order_by=name`))[0].is_subscribed,
    ]

    expect(await flags()).toEqual([false, false])
    await there.post(`/api/apps/${app}/subscribe`)
    await there.post(`/api/files/${id}/subscribe`)
    expect(await flags()).toEqual([true, true])
    await there.post(`/api/apps/${app}/unsubscribe`)
    await there.post(`/api/files/${id}/unsubscribe`)
    expect(await flags()).toEqual([false, false])
  })

  test('content is loaded by the browser itself: the same address each time, ranges, and as an attachment', async () => {
    const file = await add('notes.txt', 'Some <b>notes</b>')
    const again = (await here.list(`${path}?skip=0&order_by=name`))[0]
    const origin = 'https://page.example'
    const preview = await fetch(file.preview_url as string, { headers: { ...kitHeaders, origin } })
    const preflight = await fetch(file.preview_url as string, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,content-type,x-requested-with,x-weavy-source',
      },
    })
    const part = await fetch(file.download_url, { headers: { origin, range: 'bytes=0-3' } })
    const separator = file.download_url.includes('?') ? '&' : '?'
    const download = await fetch(`${file.download_url}${separator}d=1`)

    expect(again).toMatchObject({ download_url: file.download_url, preview_url: file.preview_url })
    expect(file).toMatchObject({ kind: 'text', preview_format: 'text' })
    expect([preview.status, await preview.text()]).toEqual([200, 'Some <b>notes</b>'])
    expect(preflight.ok).toBe(true)
    expect([part.status, await part.text()]).toEqual([206, 'Some'])
    for (const { headers } of [preview, preflight, part]) {
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
    }
    expect(download.headers.get('content-disposition')).toMatch(/^attachment;.*notes\.txt/)
  })

  test('a folder with files has an archive, an empty one has none', async () => {
    expect(await here.get(`/api/apps/${app}`)).not.toHaveProperty('archive_url')
    await add('a.txt', 'x')

    const { archive_url } = await here.get(`/api/apps/${app}`)
    const archive = await fetch(`${archive_url}${archive_url.includes('?') ? '&' : '?'}d=1`)

    expect([archive.status, archive.headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(archive.headers.get('content-disposition')).toMatch(/^attachment/)
  })

  test('a file from a cloud is named with where it is, and opened there', async () => {
    const cloud = {
      provider: 'Google Drive',
      link: 'https://docs.example/1',
      name: 'Sheet.gsheet',
      size: 12,
      raw: { id: '1' },
      media_type: 'application/vnd.google-apps.spreadsheet',
      embed: 'https://docs.example/1/embed',
    }
    const blob = await here.post('/api/blobs/external', cloud)

    const file = shapes.File.omit({ download_url: true }).parse(
      await here.post(path, { blob_id: blob.id, replace: false }),
    )

    expect(blob).toMatchObject({ id: expect.any(Number), name: 'Sheet.gsheet', size: 12 })
    expect(file).toMatchObject({
      kind: 'spreadsheet',
      provider: 'Google Drive',
      external_url: cloud.link,
      preview_format: 'embed',
      preview_url: cloud.embed,
    })
  })
})
