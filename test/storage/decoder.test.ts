import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { Decoder } from '../../src/media/decoder.ts'
import { Renditions } from '../../src/media/renditions.ts'
import { isUnavailable } from '../../src/postgres/unavailable.ts'

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

  expect(await new Renditions(place.bytes).inspect('hostile', 1)).toEqual({ format: 'svg', width: 10, height: 10 })
})

test('a head that takes for ever is given up, and holds up the next one only briefly', async () => {
  await using place = await openPlace()
  const frames = await toFrames(60_000)
  for (const key of ['first', 'second']) await place.bytes.put(key, one(frames))
  await place.bytes.put('picture', one(png))
  using renditions = place.renditions()
  const before = process.cpuUsage()

  const hostile = ['first', 'second'].map(key => renditions.inspect(key, 1))
  const picture = await renditions.inspect('picture', 1)

  expect(picture).toEqual({ format: 'png', width: 600, height: 300 })
  expect(await Promise.all(hostile)).toEqual([null, null])
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000)
})

test('a crowd of heads of one person keeps nobody else waiting', async () => {
  await using place = await openPlace()
  await place.bytes.put('picture', one(png))
  using renditions = place.renditions()
  const done: number[] = []
  const inspect = (uploader: number) => renditions.inspect('picture', uploader).then(() => done.push(uploader))

  const crowd = Array.from({ length: 20 }, () => inspect(1))
  await Promise.all([...crowd, inspect(2)])

  expect(done.indexOf(2)).toBeLessThan(10)
})

test('pictures that lie on their side or move are as large as they are shown', async () => {
  await using place = await openPlace()
  await place.bytes.put('lying', one(await sharp(png).jpeg().withMetadata({ orientation: 6 }).toBuffer()))
  await place.bytes.put('moving', one(await toFrames(3)))
  using renditions = place.renditions()

  expect(await renditions.inspect('lying', 1)).toEqual({ format: 'jpeg', width: 300, height: 600 })
  expect(await renditions.inspect('moving', 1)).toEqual({ format: 'webp', width: 1, height: 1 })
})

test('where no process can be started the picture waits for another time', async () => {
  await using place = await openPlace()
  await place.bytes.put('picture', one(png))
  using renditions = place.renditions()
  const node = process.execPath

  process.execPath = '/nowhere/node'
  const outcomes = await Promise.allSettled([renditions.inspect('picture', 1), renditions.of('picture', 'avatar', 1)])
  process.execPath = node

  expect(outcomes.map(outcome => outcome.status === 'rejected' && isUnavailable(outcome.reason))).toEqual([true, true])
  expect(await renditions.inspect('picture', 1)).toMatchObject({ format: 'png' })
  expect(await renditions.of('picture', 'avatar', 1)).toBe('picture.avatar')
})

test('the time that its process takes to start is not held against a picture', async () => {
  await using place = await openPlace()
  using decoder = place.decoder(50)

  expect(await decoder.inspect(place.file('picture.png', png))).toMatchObject({ format: 'png' })
})

test('a picture that takes for ever is given up, and the next one is made', async () => {
  await using place = await openPlace()
  using decoder = place.decoder(500)

  const never = await decoder.make(place.file('hostile.svg', hostile), 'avatar')
  const next = await decoder.make(place.file('picture.png', png), 'thumbnail')

  expect(never).toBeNull()
  expect(sizeOf(next)).toEqual([512, 256])
})

test('pictures are made one after the other, also behind one that is none', async () => {
  await using place = await openPlace()
  using decoder = place.decoder()
  const [path, text] = [place.file('picture.png', png), place.file('text.png', Buffer.from('hello'))]

  const avatar = await decoder.make(path, 'avatar')
  const none = await decoder.make(text, 'avatar')
  const preview = await decoder.make(path, 'preview')

  expect(none).toBeNull()
  expect([sizeOf(avatar), sizeOf(preview)]).toEqual([
    [256, 256],
    [600, 300],
  ])
})

test('a picture that lies on its side is made upright', async () => {
  await using place = await openPlace()
  using decoder = place.decoder()
  const lying = await sharp(png).jpeg().withMetadata({ orientation: 6 }).toBuffer()

  expect(sizeOf(await decoder.make(place.file('lying.jpg', lying), 'thumbnail'))).toEqual([256, 512])
})

test('somebody with one picture waits for one at most of those of somebody with many', async () => {
  await using place = await openPlace()
  using renditions = place.renditions()
  const many = ['one-of-many', 'two-of-many', 'three-of-many', 'four-of-many']
  for (const key of [...many, 'mine']) await place.bytes.put(key, one(png))
  const made: (string | null)[] = []

  const make = async (key: string, uploader: number) => made.push(await renditions.of(key, 'avatar', uploader))
  await Promise.all([...many.map(key => make(key, 1)), make('mine', 2)])

  expect(made.indexOf('mine.avatar')).toBeOneOf([0, 1])
})

/** A WebP picture of one pixel that moves: what reads its head goes through all frames again for each of them. */
async function toFrames(count: number): Promise<Buffer> {
  const still = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#2060c0' } })
    .webp({ lossless: true })
    .toBuffer()
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(16), still.subarray(12)]))
  const head = [chunk('VP8X', Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 0, 0])), chunk('ANIM', Buffer.alloc(6))]
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...head, ...Array.from({ length: count }, () => frame)]))
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.from(`${name}    `)
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content])
}

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
    decoder(processorMs = 15_000) {
      const decoder = new Decoder(processorMs)
      return Object.assign(decoder, { [Symbol.dispose]: () => decoder.stop() })
    },
    renditions() {
      const renditions = new Renditions(this.bytes)
      return Object.assign(renditions, { [Symbol.dispose]: () => renditions.stop() })
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  }
}
