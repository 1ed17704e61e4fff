import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { zipFiles } from '../../src/resources/files/content/archive.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory } from '../support/process.ts'

test('whoever goes away in the middle of a file leaves it open nowhere', async () => {
  await using desk = await openDesk()
  const archive = desk.zip()
  await once(archive, 'readable')
  const [file] = desk.opened

  archive.destroy()

  await eventually(() => expect(file?.destroyed).toBe(true))
})

test('whoever goes away while a file is looked for leaves it open nowhere', async () => {
  await using desk = await openDesk()
  const archive = desk.zip(async () => {
    archive.destroy()
    await once(archive, 'close')
  })

  await eventually(() => expect(desk.opened.map(file => file.destroyed)).toEqual([true]))
})

/** An app with one file, of more than any buffer on the way takes. */
async function openDesk() {
  const [directory, database] = [createDirectory(), await createDatabase()]
  await database.sql`
    with app as (
      insert into apps (type, rev, head_rev, created_at, created_by) values ('files', 1, 1, now(), 1) returning id
    ), blob as (
      insert into blobs (name, media_type, size, key, secret, created_at, created_by, checked_at)
      values ('film.mp4', 'video/mp4', 1, 'film', 's', now(), 1, now()) returning id
    ), file as (
      insert into files (id, app_id, rev, name, size, created_at, created_by)
      select 1, id, 1, 'film.mp4', 1, now(), 1 from app returning id, app_id
    )
    insert into file_versions (file_id, rev, app_id, blob_id, created_at, created_by)
    select file.id, 1, app_id, blob.id, now(), 1 from file, blob`
  const [app] = await database.sql<{ id: number }[]>`select id from apps`
  const bytes = new DiskBytes(directory.path)
  await bytes.put('film', film())
  const opened: Readable[] = []
  return {
    opened,
    /** The archive; `before` is done each time before a file is opened. */
    zip(before = async () => {}) {
      const looking = Object.assign(new DiskBytes(directory.path), {
        async open(key: string) {
          await before()
          const file = await bytes.open(key)
          opened.push(file!)
          return file
        },
      })
      return zipFiles(database.sql, app!.id, looking)
    },
    async [Symbol.asyncDispose]() {
      for (const part of [database, directory]) await part[Symbol.asyncDispose]()
    },
  }
}

async function* film(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 4; i++) yield Buffer.alloc(1024 * 1024)
}
