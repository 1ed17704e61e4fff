import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Addresses by name; a name that is missing here is one that nobody answers for. */
type Records = Record<string, { A?: string[]; AAAA?: string[] }>

const types = { 1: 'A', 28: 'AAAA' } as const

/** A name server on loopback that speaks as much of RFC 1035 as is needed to be asked for addresses. */
export async function startNameServer(records: Records) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    asked.push(name)
    const found = records[name]
    if (found !== undefined) socket.send(toAnswer(query.subarray(0, end), type, found), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    server: `127.0.0.1:${socket.address().port}`,
    /** The names that were asked for, once for each type and try. */
    asked,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function toAnswer(question: Buffer, type: number, found: Records[string]): Buffer {
  const addresses = found[types[type as keyof typeof types]] ?? []
  const head = Buffer.from(question)
  // An answer, from a server that also asks others; as many records as follow, and nothing more.
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(0, 10)
  return Buffer.concat([head, ...addresses.map(address => toRecord(type, address))])
}

function toRecord(type: number, address: string): Buffer {
  const data = type === 1 ? Buffer.from(address.split('.').map(Number)) : toBytes(address)
  const record = Buffer.alloc(12)
  // The name is that of the question.
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([record, data])
}

/** Of an IPv6 address with all of its eight groups. */
function toBytes(address: string): Buffer {
  return Buffer.from(
    address
      .split(':')
      .map(group => group.padStart(4, '0'))
      .join(''),
    'hex',
  )
}
