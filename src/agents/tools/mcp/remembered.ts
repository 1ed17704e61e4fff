import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PriorDiscovery } from '@modelcontextprotocol/client'
import type { Listing } from './listing.ts'
import type { ServerAddress } from './server.ts'

/** How a server was reached: by which transport, and what it said of its protocol. */
export interface Way {
  transport: 'http' | 'sse'
  prior: PriorDiscovery
}

/** How a server is reached seldom changes; asking anew takes one or two requests. */
const wayMs = 3_600_000

/** However long a server says that its list is good for. */
const listingMs = 300_000

/** Bytes of ways and of lists that are remembered, about: what was not asked for longest goes first. Guesses. */
const waysBytes = 4 * 1024 * 1024
const listingsBytes = 32 * 1024 * 1024

/** What this node learned of tool servers, as long as it is good for. */
export class RememberedServers {
  readonly #ways = openCache<Way>(waysBytes)
  readonly #listings = openCache<Listing>(listingsBytes)

  wayOf(address: ServerAddress): Way | undefined {
    return this.#ways.get(keyOf(address))
  }

  keepWay(address: ServerAddress, way: Way): void {
    this.#ways.set(keyOf(address), way, { ttl: wayMs })
  }

  listingOf(address: ServerAddress): Listing | undefined {
    return this.#listings.get(keyOf(address))
  }

  keepListing(address: ServerAddress, listing: Listing): void {
    if (listing.ttlMs <= 0) return
    this.#listings.set(keyOf(address), listing, { ttl: Math.min(listing.ttlMs, listingMs) })
  }

  forget(address: ServerAddress): void {
    this.#ways.delete(keyOf(address))
    this.#listings.delete(keyOf(address))
  }
}

/** Headers are part of it: others may see other tools. */
function keyOf({ url, headers }: ServerAddress): string {
  return createHash('sha256')
    .update(JSON.stringify([url, headers]))
    .digest('base64')
}

function openCache<Value extends object>(maxSize: number): LRUCache<string, Value> {
  const sizeCalculation = (value: Value, key: string) => key.length + JSON.stringify(value).length
  return new LRUCache({ maxSize, sizeCalculation, ttlResolution: 0 })
}
