import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { DiskBytes } from '../../src/storage/bytes-disk.ts'
import { Decoder } from '../../src/storage/decoder.ts'
import { Renditions } from '../../src/storage/renditions.ts'

const png = await sharp({ create: { width: 600, height: 300, channels: 3, background: '#2060c0' } })
  .png()
  .toBuffer()

/** Its rules are tried on each element, and on all that hold it: a minute and more, before anything is drawn. */
const hostile = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><style>${'g * * * * * * * * * * .z{}'.repeat(5_000)}</style>` +
    ('<g class="z">'.repeat(200) + '</g>'.repeat(200)).repeat(25) +
    '</svg>',
)

test('who sends a picture that takes for ever to be read is answered at once', async () => {
  await using place = await openPlace()
  await place.bytes.put('hostile', one(hostile))

  expect(await new Renditions(place.bytes).inspect('hostile')).toEqual({ format: 'svg', width: 10, height: 10 })
})

test('a picture that takes for ever is given up, and the next one is made', async () => {
  await using place = await openPlace()
  using decoder = place.decoder(2_000)

  const never = await decoder.make({ path: place.file('hostile.svg', hostile), rendition: 'avatar' })
  const next = await decoder.make({ path: place.file('picture.png', png), rendition: 'thumbnail' })

  expect(never).toBeNull()
  expect(sizeOf(next)).toEqual([512, 256])
})

test('pictures are made one after the other, also behind one that is none', async () => {
  await using place = await openPlace()
  using decoder = place.decoder()
  const [path, text] = [place.file('picture.png', png), place.file('text.png', Buffer.from('hello'))]

  const avatar = await decoder.make({ path, rendition: 'avatar' })
  const none = await decoder.make({ path: text, rendition: 'avatar' })
  const preview = await decoder.make({ path, rendition: 'preview' })

  expect(none).toBeNull()
  expect([sizeOf(avatar), sizeOf(preview)]).toEqual([
    [256, 256],
    [600, 300],
  ])
})

test('somebody with one picture waits for one at most of those of somebody with many', async () => {
  await using place = await openPlace()
  const renditions = new Renditions(place.bytes)
  const many = ['one-of-many', 'two-of-many', 'three-of-many', 'four-of-many']
  for (const key of [...many, 'mine']) await place.bytes.put(key, one(png))
  const made: (string | null)[] = []

  const make = async (key: string, uploader: number) => made.push(await renditions.of(key, 'avatar', uploader))
  await Promise.all([...many.map(key => make(key, 1)), make('mine', 2)])
  renditions.stop()

  expect(made.indexOf('mine.avatar')).toBeOneOf([0, 1])
})

/** As the head of a WebP picture says. */
function sizeOf(made: Uint8Array | null): number[] {
  const head = Buffer.from(made!)
  return [head.readUInt16LE(26), head.readUInt16LE(28)]
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function openPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-decoder-'))
  return {
    bytes: new DiskBytes(folder),
    file(name: string, content: Uint8Array) {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    decoder(limitMs?: number) {
      const decoder = new Decoder(limitMs)
      return Object.assign(decoder, { [Symbol.dispose]: () => decoder.stop() })
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  }
}
