import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SpillFile } from '../../src/http/request/body/spill-file.ts'

test('whatever is written and read in turns, it comes back in order and whole', async () => {
  const step = fc.record({ isWrite: fc.boolean(), length: fc.integer({ min: 1, max: 300 }) })

  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const overflow = new SpillFile()
      const written: number[] = []
      const read: number[] = []
      const readPiece = async (length: number) => {
        const piece = new Uint8Array(length).fill(255)
        const count = await overflow.read(piece)
        read.push(...piece.subarray(0, count))
        expect(piece.subarray(count).every(byte => byte === 255)).toBe(true)
      }
      for (const { isWrite, length } of steps) {
        if (isWrite) {
          const chunk = Uint8Array.from({ length }, (_, i) => (written.length + i) % 251)
          overflow.write(chunk)
          written.push(...chunk)
        } else await readPiece(length)
        expect(overflow.sizeBytes).toBe(written.length - read.length)
      }
      while (overflow.sizeBytes > 0) await readPiece(300)

      expect(read).toEqual(written)
      overflow.close()
    }),
    { numRuns: 50 },
  )
})

test('what is closed while it is read from ends the read, and may be closed again', async () => {
  const overflow = new SpillFile()
  overflow.write(Buffer.from('abc'))
  const piece = new Uint8Array(3)

  const reading = overflow.read(piece)
  overflow.close()
  overflow.close()

  expect(await reading).toBe(3)
  expect(Buffer.from(piece).toString()).toBe('abc')
  // Its file is closed.
  expect(() => overflow.write(Buffer.from('d'))).toThrow('EBADF')
})

test('what is closed while nothing is read is closed at once', () => {
  const overflow = new SpillFile()
  overflow.close()
  overflow.close()

  expect(() => overflow.write(Buffer.from('d'))).toThrow('EBADF')
})
