/**
 * A font in which every character is the same block, half as wide as high: what is drawn with it is the same with every
 * version of a browser, and on every system. TrueType, as base64.
 */
export function makeBlockFont(): string {
  const tables: [tag: string, bytes: Buffer][] = [
    ['OS/2', os2()],
    ['cmap', cmap()],
    ['glyf', block],
    // For what is missing, for spaces, and the block: only that one has an outline.
    ['hmtx', u16(500, 0, 500, 0, 500, 0)],
    ['loca', u32(0, 0, 0, block.length)],
    ['maxp', Buffer.concat([u32(0x00010000), u16(3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)])],
    ['name', u16(0, 0, 6)],
    ['post', Buffer.concat([u32(0x00030000, 0), u16(0, 0), u32(0, 0, 0, 0, 0)])],
    [
      'head',
      Buffer.concat([
        u32(0x00010000, 0x00010000, 0, 0x5f0f3cf5),
        u16(3, 1000),
        Buffer.alloc(16),
        u16(50, 0xff9c, 450, 700, 0, 8, 2, 1, 0),
      ]),
    ],
    ['hhea', Buffer.concat([u32(0x00010000), u16(800, 0xff38, 0, 500, 50, 50, 450, 1, 0, 0, 0, 0, 0, 0, 0, 3)])],
  ]
  tables.sort(([a], [b]) => (a < b ? -1 : 1))
  let offset = 12 + 16 * tables.length
  const directory = tables.map(([tag, { length }]) => {
    const entry = Buffer.concat([Buffer.from(tag), u32(0, offset, length)])
    offset += padded(length)
    return entry
  })
  const bodies = tables.map(([, bytes]) => Buffer.concat([bytes], padded(bytes.length)))
  return Buffer.concat([u32(0x00010000), u16(tables.length, 128, 3, 32), ...directory, ...bodies]).toString('base64')
}

const u16 = (...values: number[]) => Buffer.concat(values.map(value => Buffer.of((value >> 8) & 255, value & 255)))
const u32 = (...values: number[]) => Buffer.concat(values.map(value => u16(Math.floor(value / 65_536), value & 65_535)))
const padded = (length: number) => Math.ceil(length / 4) * 4

/** One contour of four points: from 50 to 450 units, and from -100 to 700. */
const block = Buffer.concat([
  u16(1, 50, 0xff9c, 450, 700, 3, 0),
  Buffer.of(1, 1, 1, 1),
  u16(50, 0, 400, 0),
  u16(0xff9c, 800, 0, 0xfce0),
])

/** Many characters to one glyph (format 13): spaces to the second, all others to the third. */
function cmap(): Buffer {
  const groups = u32(0x20, 0x20, 1, 0x21, 0x9f, 2, 0xa0, 0xa0, 1, 0xa1, 0x10ffff, 2)
  return Buffer.concat([u16(0, 1, 3, 10), u32(12), u16(13, 0), u32(16 + groups.length, 0, 4), groups])
}

function os2(): Buffer {
  const head = u16(4, 500, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 250, 0)
  const ranges = Buffer.alloc(10 + 16)
  const rest = Buffer.concat([Buffer.from('NONE'), u16(0x40, 0x20, 0xffff, 800, 0xff38, 0, 800, 200), u32(1, 0)])
  return Buffer.concat([head, ranges, rest, u16(500, 700, 0, 0x20, 1)])
}
