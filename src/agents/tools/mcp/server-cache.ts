import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PriorDiscovery } from '@modelcontextprotocol/client'
import type { Listing } from './listing.ts'
import type { ServerAddress } from './server.ts'

/** How a server was reached: its transport and protocol version. */
export interface Route {
  transport: 'http' | 'sse'
  prior: PriorDiscovery
}

/** Transports seldom change; finding out takes one or two requests. */
const routeMs = 3_600_000

/** The limit of caching a list, whatever the server allows. */
const listingMs = 300_000

/** Roughly the bytes of cached transports and lists; the least recently used are evicted first. Guesses. */
const routesBytes = 4 * 1024 * 1024
const listingsBytes = 32 * 1024 * 1024

/** This node's cache of facts about tool servers. */
export class ToolServerCache {
  readonly #routes = openCache<Route>(routesBytes)
  readonly #listings = openCache<Listing>(listingsBytes)

  routeOf(address: ServerAddress): Route | undefined {
    return this.#routes.get(keyOf(address))
  }

  keepRoute(address: ServerAddress, route: Route): void {
    this.#routes.set(keyOf(address), route, { ttl: routeMs })
  }

  listingOf(address: ServerAddress): Listing | undefined {
    return this.#listings.get(keyOf(address))
  }

  keepListing(address: ServerAddress, listing: Listing): void {
    if (listing.ttlMs <= 0) return
    this.#listings.set(keyOf(address), listing, { ttl: Math.min(listing.ttlMs, listingMs) })
  }

  forget(address: ServerAddress): void {
    this.#routes.delete(keyOf(address))
    this.#listings.delete(keyOf(address))
  }
}

/** Includes the headers: other callers may see other tools. */
function keyOf({ url, headers }: ServerAddress): string {
  return createHash('sha256')
    .update(JSON.stringify([url, headers]))
    .digest('base64')
}

function openCache<Value extends object>(maxSize: number): LRUCache<string, Value> {
  const sizeCalculation = (value: Value, key: string) => key.length + JSON.stringify(value).length
  return new LRUCache({ maxSize, sizeCalculation, ttlResolution: 0 })
}
