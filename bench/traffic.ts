import { native, toListener, type Protocol } from './crowd.ts'
import { toRequest } from './load/http-connection.ts'
import type { Readers } from './load/readers.ts'
import type { Server } from './server.ts'
import { texts, type Need, type Room } from './world.ts'

/** Rooms as most conversations are: small, and many. */
export const smallRooms: Need = { rooms: 50, members: 10, messages: 0 }

/**
 * For each connection the messages that it sends in turn. Connections are spread over rooms first, and then over the
 * members of each.
 */
export function toSends(rooms: Room[], connections: number): string[][] {
  return Array.from({ length: connections }, (_, connection) => {
    const { app, members } = rooms[connection % rooms.length]!
    const { token } = members[Math.floor(connection / rooms.length) % members.length]!
    return texts.map((_, at) =>
      toRequest('POST', `/api/apps/${app}/messages`, token, { text: texts[(at + connection) % texts.length] }),
    )
  })
}

export const newestPage = (app: string) => `/api/apps/${app}/messages?order_by=id+desc`

/** For each connection the newest page of a room, over and over. */
export function toReads(rooms: Room[], connections: number): string[][] {
  return Array.from({ length: connections }, (_, at) => {
    const { app, members } = rooms[at % rooms.length]!
    return [toRequest('GET', newestPage(app), members[at % members.length]!.token)]
  })
}

/** Everybody of all rooms, one of each room after the other: in turn, they write like a company does. */
export function toCompany(rooms: Room[]): string[][] {
  return toSends(rooms, rooms.length * rooms[0]!.members.length)
}

/** The last few members of each room, connected and subscribed to it; with `areReading`, they move their markers. */
export function toReaders(
  { origins }: Server,
  rooms: Room[],
  perRoom: number,
  { areReading, protocol = native }: { areReading: boolean; protocol?: Protocol },
): Readers {
  const readers = rooms.flatMap(({ app, members }) => members.slice(-perRoom).map(({ token }) => ({ app, token })))
  const marks = readers.map(({ app, token }) => toRequest('PUT', `/api/apps/${app}/mark?message_id={id}`, token))
  return {
    servers: origins,
    path: protocol.path,
    listeners: readers.map(({ app, token }) => toListener(protocol, app, token)),
    ...(areReading && { marks }),
  }
}
